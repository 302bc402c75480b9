package docs

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"
)

// MenuPath is where the page looks for what shows and hides the list of operations on narrow screens.
const MenuPath = "/docs/menu.js"

//go:embed menu.js
var menu []byte

// Menu serves that script.
func Menu(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentType, fiber.MIMETextJavaScriptCharsetUTF8)
	f.Set(fiber.HeaderCacheControl, "public, max-age=3600")

	return f.Send(menu)
}
