package middleware

import (
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"rihla/api/ratelimit"
)

// A client that sends `Expect: 100-continue` waits before it sends its body. What can be refused without the body is refused then: the
// request goes through the chain once without its body, up to where the body would be read, and once more with it. It is counted once.

// errContinue ends the first pass of a request that may send its body.
var errContinue = errors.New("the body may be sent")

// expectKey is the key of a request's expectation among the values of its fasthttp context.
type expectKey struct{}

// expectation is a request that asks before it sends its body.
type expectation struct {
	asking bool
	let    bool
	// counted are the headers that say what the limit of the first pass has left.
	counted map[string]string
}

// Expect runs handle for a request that asks whether to send its body: 100 if it should, else the status of the answer, which is in ctx.
// It is a fasthttp.Server's ExpectHandler.
func Expect(ctx *fasthttp.RequestCtx, handle fasthttp.RequestHandler) int {
	asked := &expectation{asking: true}
	ctx.SetUserValue(expectKey{}, asked)
	handle(ctx)

	asked.asking = false

	if !asked.let {
		return ctx.Response.StatusCode()
	}

	ctx.Response.Reset()

	return fasthttp.StatusContinue
}

// expectationOf is nil for a request that did not ask.
func expectationOf(f *fiber.Ctx) *expectation {
	asked, _ := f.Context().UserValue(expectKey{}).(*expectation)

	return asked
}

func asksToContinue(f *fiber.Ctx) bool {
	asked := expectationOf(f)

	return asked != nil && asked.asking
}

// goOn lets a request that asks send its body. Error: errContinue.
func goOn(f *fiber.Ctx) error {
	asked := expectationOf(f)
	asked.let, asked.counted = true, ratelimit.Shown(f)

	return errContinue
}

// countedBefore reports whether the request was counted when it asked, and says in the answer what is left. A webhook is counted
// when its signature is known.
func countedBefore(f *fiber.Ctx) bool {
	asked := expectationOf(f)
	if asked == nil || len(asked.counted) == 0 {
		return false
	}

	for name, value := range asked.counted {
		f.Set(name, value)
	}

	return true
}
