package middleware

import (
	"bytes"
	"crypto/rand"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/brand"
	"rihla/models"
)

// personPaths begin the addresses that customers open in a browser: a page on which they pay, the way back from one, and a ticket.
var personPaths = []string{"/pay", "/api/v1/payments/returns/", models.TicketPath}

// forPerson reports a request of a browser for a page that people open. Clients that do not ask for HTML get JSON there, too.
func forPerson(f *fiber.Ctx) bool {
	if f.Method() != http.MethodGet && f.Method() != http.MethodHead {
		return false
	}

	if f.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) != fiber.MIMETextHTML {
		return false
	}

	return slices.ContainsFunc(personPaths, func(p string) bool {
		return f.Path() == p || strings.HasPrefix(f.Path(), strings.TrimSuffix(p, "/")+"/")
	})
}

// pageWords are what a page says in place of the one that was asked for.
var pageWords = map[models.Locale]struct{ missing, missingNote, ticketNote, failed, other string }{
	models.LocaleArabic: {
		"الصفحة غير موجودة", "رابط الدفع غير صحيح أو انتهت مدته. تحقّق من الرابط، أو ارجع إلى التطبيق أو الموقع الذي حجزت منه.",
		"رابط التذكرة غير صحيح أو انتهت مدته، أو أن الحجز لم يعد مؤكدًا. افتح الحجز في التطبيق أو الموقع الذي حجزت منه.",
		"تعذّر عرض الصفحة", "English",
	},
	models.LocaleEnglish: {
		"Page not found", "This payment link is not valid, or has expired. Check the link, or go back to the app or site where you booked.",
		"This ticket link is not valid, has expired, or the booking is no longer confirmed. Open the booking where you made it.",
		"This page cannot be shown", "العربية",
	},
}

var errorPage = template.Must(template.New("error").Parse(`<!DOCTYPE html>
<html lang="{{.Lang}}" dir="{{.Dir}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{{.Title}} · {{.Brand}}</title>
<style nonce="{{.Nonce}}">
{{.CSS}}
body{font-family:system-ui,sans-serif;margin:0;min-height:100vh;display:flex;flex-direction:column;
background:var(--ground);color:var(--ink)}
main{margin:auto;max-width:32rem;padding:2rem}
h1{font-size:1.5rem;margin:0 0 1rem}
p{line-height:1.6;margin:0 0 1rem}
a{color:var(--brand)}
.brand{display:flex;align-items:center;gap:.6rem;color:var(--brand);font-size:1.3rem;font-weight:bold}
.brand svg{width:2.2rem;height:2.2rem}
</style>
</head>
<body><main><p class="brand"><span aria-hidden="true">{{.Icon}}</span>{{.Brand}}</p><h1>{{.Title}}</h1><p>{{.Note}}</p>
<p><a href="?lang={{.Other}}" lang="{{.Other}}" hreflang="{{.Other}}">{{.OtherName}}</a></p></main></body>
</html>
`))

// writePage is an error for a person. Nothing of the request gets into it.
func writePage(f *fiber.Ctx, status int, locale models.Locale, code models.Code) error {
	if asked := models.Locale(f.Query("lang")); asked == models.LocaleArabic || asked == models.LocaleEnglish {
		locale = asked
	}

	note := codeWords(code).In(locale)
	words := pageWords[locale]
	page := struct {
		Lang, Dir, Title, Note, Other, OtherName, Nonce, Brand string
		CSS                                                    template.CSS
		Icon                                                   template.HTML
	}{
		string(locale), "rtl", words.failed, note, string(models.LocaleEnglish), words.other, rand.Text(), brand.Name(locale), brand.CSS,
		brand.Icon(),
	}

	if locale == models.LocaleEnglish {
		page.Dir, page.Other = "ltr", string(models.LocaleArabic)
	}

	// An address that cannot be one is a page that does not exist, to a person.
	if status == http.StatusNotFound || status == http.StatusUnprocessableEntity {
		status, page.Title, page.Note = http.StatusNotFound, words.missing, words.missingNote

		if strings.HasPrefix(f.Path(), models.TicketPath) {
			page.Note = words.ticketNote
		}
	}

	var html bytes.Buffer
	if err := errorPage.Execute(&html, page); err != nil {
		return err
	}

	f.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	f.Set(fiber.HeaderContentLanguage, string(locale))
	f.Set(fiber.HeaderContentSecurityPolicy,
		"default-src 'none'; style-src 'nonce-"+page.Nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	f.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	f.Set(fiber.HeaderCacheControl, "no-store")
	f.Vary(fiber.HeaderAccept, fiber.HeaderAcceptLanguage)

	return f.Status(status).Send(html.Bytes())
}
