package moyasar

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

// request is one request of the API.
type request struct {
	method  string
	path    string
	query   url.Values
	body    any                // sent as JSON; nil for none
	missing gateways.ErrorKind // what a 404 means; the zero value leaves it KindRejected
}

// call makes the request once and decodes a 2xx answer into answer. Its errors are *gateways.Error.
//
// Go's transport repeats by itself what breaks on a used connection, if it is a GET or has an Idempotency-Key header. GETs may be
// repeated; no other request has that header, so that none is sent twice.
func (d *Driver) call(ctx context.Context, r request, answer any) error {
	req, err := d.newRequest(ctx, r)
	if err != nil {
		// Nothing was sent: an unsendable request is final. The cause is left out, because it may quote the address.
		return refusal("bad_request", "the request cannot be sent")
	}

	res, err := httpcall.Do(d.client, req)
	if err != nil {
		return err
	}

	if !res.OK() {
		return d.rejected(res, r.missing)
	}

	if err := json.Unmarshal(res.Body, answer); err != nil {
		// The cause is left out: it quotes the answer.
		return httpcall.BadAnswer("the answer is not the JSON that is documented")
	}

	return nil
}

func (d *Driver) newRequest(ctx context.Context, r request) (*http.Request, error) {
	target := d.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}

	var body io.Reader

	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}

		body = bytes.NewReader(encoded)
	}

	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}

	req.SetBasicAuth(d.key, "") // the key is the user (docs.moyasar.com/api/authentication)
	req.Header.Set("Accept", "application/json")

	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	return req, nil
}
