package simulator

import (
	"context"
	"html"
	"io"
	"net/http"
	"regexp"
)

// widgetScript is the company's form on a page of ours.
var widgetScript = regexp.MustCompile(`src="([^"]+)/v1/paymentWidgets\.js\?checkoutId=([^"]+)"`)

// maxPage bounds what is read of a page.
const maxPage = 1 << 20

// Button is where a form with `outcome` (succeed, decline or cancel) does what a customer does on the page of a checkout: the page itself,
// or the company, where the page is one of ours with the company's form in it.
func Button(ctx context.Context, client *http.Client, checkout string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, checkout, nil)
	if err != nil {
		return "", err
	}

	answer, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()

	page, err := io.ReadAll(io.LimitReader(answer.Body, maxPage))
	if err != nil {
		return "", err
	}

	if found := widgetScript.FindStringSubmatch(html.UnescapeString(string(page))); found != nil {
		return found[1] + "/pay/" + found[2], nil
	}

	return checkout, nil
}
