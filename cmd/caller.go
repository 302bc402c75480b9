//go:build !production

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/gateways/simulator"
	"rihla/models"
)

// caller is a client of the API, for the demo: one person with a token.
type caller struct {
	base  string
	token string
	http  *http.Client
}

func newCaller(base string) caller {
	return caller{base: base, http: &http.Client{
		Timeout:       40 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// envelope is the `data` of a single resource (rules: api.envelope).
type envelope struct {
	Data any `json:"data"`
}

func (c *caller) signIn(ctx context.Context, email, password string) error {
	var answer struct {
		Token string `json:"access_token"`
	}

	err := c.post(ctx, "/api/v1/auth/login", map[string]string{"email": email, "password": password}, &envelope{&answer})
	c.token = answer.Token

	return err
}

func (c *caller) get(ctx context.Context, path string, into any) error {
	answer, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	return json.NewDecoder(answer.Body).Decode(into)
}

func (c *caller) post(ctx context.Context, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}

	answer, err := c.do(ctx, http.MethodPost, path, text)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	return json.NewDecoder(answer.Body).Decode(into)
}

// refusal is an answer that is not 2xx.
type refusal struct {
	code models.Code // empty when the answer is not one of the API
	text string
}

func (r *refusal) Error() string { return r.text }

// do sends one request; an answer that is not 2xx is a refusal with the answer's own code and message.
func (c *caller) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept-Language", "en")

	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}

	if method == http.MethodPost && c.token != "" {
		r.Header.Set("Idempotency-Key", uuid.NewString())
	}

	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}

	if answer.StatusCode >= http.StatusMultipleChoices {
		defer answer.Body.Close()

		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2000))

		var said struct {
			Error struct {
				Code models.Code `json:"code"`
			} `json:"error"`
		}

		_ = json.Unmarshal(text, &said) // a page of a gateway has no code

		return nil, &refusal{code: said.Error.Code, text: fmt.Sprintf("%s %s: %s: %s", method, path, answer.Status, text)}
	}

	return answer, nil
}

// pay presses the button of the gateway's page by which the customer pays.
func (c *caller) pay(ctx context.Context, checkout string) error {
	return c.press(ctx, checkout, "succeed")
}

// press presses a button of the gateway's page: succeed, decline or cancel.
func (c *caller) press(ctx context.Context, checkout, outcome string) error {
	button, err := simulator.Button(ctx, c.http, checkout)
	if err != nil {
		return err
	}

	form := strings.NewReader(url.Values{"outcome": {outcome}}.Encode())

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, button, form)
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the gateway's page answered %s", answer.Status)
	}

	return nil
}

// download saves an answer as a file and returns its size.
func (c *caller) download(ctx context.Context, path, name string) (size int64, err error) {
	answer, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()

	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return 0, err
	}

	file, err := os.Create(name) //nolint:gosec // a fixed name in DATA_DIR
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	return io.Copy(file, answer.Body)
}

// awaitFile waits until a file whose name contains part is in dir.
func awaitFile(ctx context.Context, dir, part string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()

	for {
		found, err := filepath.Glob(filepath.Join(dir, "*"+part+"*"))
		if err != nil {
			return "", err
		}

		if len(found) > 0 {
			return found[0], nil
		}

		select {
		case <-ctx.Done():
			return "", fmt.Errorf("no message %s in %s", part, dir)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
