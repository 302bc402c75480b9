package models_test

import (
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestReturnRules(t *testing.T) {
	t.Parallel()

	const (
		malformed = "must be an address such as https://example.com/path"
		scheme    = "must be an https address, or one of the app's own"
		host      = "has a host that is not allowed"
		user      = "must not contain a user name"
	)

	open := models.ReturnRules{}
	dev := models.ReturnRules{Loopback: true}
	strict := models.ReturnRules{
		Hosts: []string{"app.rihla.test", "app.rihla.test:8443", "*.shop.test"}, Schemes: []string{"rihla"}, Loopback: true,
	}

	for name, c := range map[string]struct {
		rules   models.ReturnRules
		address string
		want    string
	}{
		"none":                         {strict, "", ""},
		"any https":                    {open, "https://anywhere.test/done?x=1#end", ""},
		"a listed host":                {strict, "https://APP.rihla.test/done", ""},
		"its port":                     {strict, "https://app.rihla.test:443/done", ""},
		"a listed port":                {strict, "https://app.rihla.test:8443/done", ""},
		"another port":                 {strict, "https://app.rihla.test:444/done", host},
		"below a domain":               {strict, "https://a.b.shop.test", ""},
		"the domain itself":            {strict, "https://shop.test", host},
		"an ending alone":              {strict, "https://evilshop.test", host},
		"another host":                 {strict, "https://app.rihla.test.evil.test/", host},
		"a final dot":                  {strict, "https://app.rihla.test./", host},
		"a solidus in another writing": {strict, "https://evil.test%EF%BC%8F.shop.test/", host},
		"a quotation mark":             {strict, `https://evil.test".shop.test/`, host},
		"a comma":                      {strict, "https://evil.test,.shop.test/", host},
		"a user that looks like it":    {strict, "https://app.rihla.test@evil.test/", user},
		"a user of the right host":     {strict, "https://me@app.rihla.test/", user},
		"a backslash":                  {strict, `https://evil.test\.shop.test/`, malformed},
		"a backslash in the path":      {strict, `https://app.rihla.test/\evil.test`, malformed},
		"another writing of the host":  {open, "https://ｅvil.test/", malformed},
		"a line":                       {open, "https://x.test/\r\nSet-Cookie: a=b", malformed},
		"a space":                      {open, "https://x.test/ y", malformed},
		"http":                         {open, "http://anywhere.test/", scheme},
		"http on loopback":             {open, "http://127.0.0.1:3000/", scheme},
		"the same in development":      {dev, "http://127.0.0.1:3000/", ""},
		"localhost in development":     {dev, "http://localhost:3000/", ""},
		"IPv6 loopback in development": {dev, "http://[::1]:3000/", ""},
		"http elsewhere":               {dev, "http://127.0.0.1.evil.test/", scheme},
		"loopback when hosts are set":  {strict, "http://127.0.0.1:3000/", scheme},
		"an app":                       {strict, "rihla://bookings/done", ""},
		"an app without a host":        {strict, "RIHLA:///done", ""},
		"another app":                  {strict, "other://bookings/done", scheme},
		"an app that is not listed":    {open, "rihla://done", scheme},
		"a script":                     {open, "javascript:alert(1)", malformed},
		"a script as a host":           {open, "javascript://x/%0aalert(1)", scheme},
		"no host":                      {open, "https:///path", scheme},
		"no scheme":                    {open, "//evil.test/", scheme},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := c.rules.Check(c.address)
			if c.want == "" {
				require.NoError(t, err)

				return
			}

			invalid, ok := err.(*models.Error) //nolint:errorlint // its details are looked at
			require.True(t, ok, "%v", err)
			require.Equal(t, models.CodeValidation, invalid.Code)
			require.Equal(t, map[string][]string{"return_url": {c.want}}, invalid.EnglishDetails())
		})
	}
}

func TestReturnTarget(t *testing.T) {
	t.Parallel()

	booking, campaign, id := uuid.MustParse("019ab0c2-7000-7aaa-8bbb-000000000003"), uuid.New(), uuid.New()
	added := "booking_id=" + booking.String() + "&transaction_id=" + id.String() + "&status=PAID"

	for address, want := range map[string]string{
		"https://app.test/done":                         "https://app.test/done?" + added,
		"https://app.test/done?token=a%2Bb&x":           "https://app.test/done?token=a%2Bb&x&" + added,
		"https://app.test/#/done?x=1":                   "https://app.test/?" + added + "#/done?x=1",
		"https://app.test?status=PAID&booking%5Fid=1&a": "https://app.test?a&" + added,
		"rihla://done":                                  "rihla://done?" + added,
	} {
		attempt := models.PaymentTransaction{ID: id, BookingID: &booking, Status: models.TransactionPaid, ReturnURL: address}
		require.Equal(t, want, attempt.ReturnTarget())

		attempt.BookingID, attempt.AdCampaignID = nil, &campaign
		target, err := url.Parse(attempt.ReturnTarget())
		require.NoError(t, err)
		require.Equal(t, campaign.String(), target.Query().Get("ad_campaign_id"))
	}
}
