package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/api/gen"
	"rihla/models"
)

const (
	busesPath = "/api/v1/provider/buses"
	busJSON   = `{"plate_number":"A 1","model":"Coach","capacity":49,"driver":{"name":"Driver"},"status":"ACTIVE"}`
	formType  = "multipart/form-data; boundary=edge"
)

// CreateBus takes a form as the service does, and answers with the size of its photos in capacity.
func (o *operations) CreateBus(ctx context.Context, r gen.CreateBusRequestObject) (gen.CreateBusResponseObject, error) {
	o.note(ctx)

	bus := gen.Bus{}

	if u := contract.UploadOf(ctx); u != nil {
		size, err := readForm(ctx, u, r.Body)
		if err != nil {
			return nil, err
		}

		bus.Capacity = size
	}

	bus.PlateNumber = r.Body.PlateNumber

	return gen.CreateBus201JSONResponse{Body: gen.BusAnswer{Data: bus}, Headers: gen.CreateBus201ResponseHeaders{Location: busesPath}}, nil
}

// readForm goes on behind a fault, as the service does, and returns the size of all photos.
func readForm(ctx context.Context, u *contract.Upload, into *gen.BusInput) (size int, err error) {
	var (
		photo  bytes.Buffer
		faults []error
	)

	for {
		field, err := u.Next()

		switch {
		case errors.Is(err, io.EOF):
			return size, errors.Join(append(faults, u.Err())...)
		case err != nil:
			return 0, err
		case field == "payload":
			faults = append(faults, u.JSON(ctx, into))
		default:
			faults = append(faults, u.Read(&photo, 5<<20))
			size += photo.Len()
		}
	}
}

// formBody is a form of parts: name, content, ….
func formBody(parts ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(parts); i += 2 {
		fmt.Fprintf(&b, "--edge\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", parts[i], parts[i+1])
	}

	return b.String() + "--edge--\r\n"
}

func TestForms(t *testing.T) {
	t.Parallel()

	b := setup(t)
	send := func(body string) answer {
		return b.call(t, http.MethodPost, busesPath, "PROVIDER_STAFF", body, "Content-Type", formType)
	}

	a := send("a preamble\r\n" + formBody("photos", "1234", "payload", busJSON, "photos", "56789") + "and an epilogue")
	require.Equal(t, http.StatusCreated, a.status, a.body)
	require.Contains(t, a.body, `"capacity":9`)
	require.Contains(t, a.body, `"plate_number":"A 1"`)

	a = send(formBody("payload", strings.Replace(busJSON, `"model"`, `"MODEL"`, 1), "photo", "1", "", "2"))
	require.Equal(t, map[string][]string{
		"model": {"is required"}, "MODEL": {"is not a known field"}, "photo": {"is not a known field"}, "body": {"is not a known field"},
	}, a.details, "names are compared exactly")

	a = send(formBody("payload", busJSON, "payload", busJSON))
	require.Equal(t, map[string][]string{"payload": {"is given more than once"}}, a.details)
	a = send(formBody(strings.Split(strings.Repeat("photos,1,", 12), ",")...))
	require.Equal(t, map[string][]string{"payload": {"is required"}, "photos": {"must have at most 10 items"}}, a.details)

	whole := formBody("payload", busJSON, "photos", "1234")
	for cut := range len(whole) - len("--\r\n") {
		require.Equal(t, http.StatusBadRequest, send(whole[:cut]+"x").status, whole[:cut])
	}

	for name, body := range map[string]string{
		"too many parts": formBody(strings.Split(strings.Repeat("photos,1,", 200), ",")...), "too long a header": formBody(strings.Repeat("x", 100<<10), ""),
		"no JSON": formBody("payload", "{"), "no form": "hello",
	} {
		a = send(body)
		require.Equal(t, models.CodeMalformedRequest, models.Code(a.code), name)
	}

	for contentType, want := range map[string]int{
		"multipart/form-data": http.StatusBadRequest, "multipart/form-data; boundary": http.StatusUnsupportedMediaType,
		"multipart/mixed; boundary=edge": http.StatusUnsupportedMediaType, "text/plain": http.StatusUnsupportedMediaType,
		"MULTIPART/Form-Data; boundary=edge": http.StatusCreated,
	} {
		a = b.call(t, http.MethodPost, busesPath, "PROVIDER_STAFF", whole, "Content-Type", contentType)
		require.Equal(t, want, a.status, contentType)
	}

	a = b.call(t, http.MethodPost, busesPath, "PROVIDER_STAFF", whole, "Content-Type", formType, "Content-Encoding", "gzip")
	require.Equal(t, http.StatusUnsupportedMediaType, a.status)
}

// endless is a body that says nothing of its length and does not end by itself.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}

	n := min(len(p), e.left)
	e.left -= n

	return n, nil
}

func TestFormsWithoutALength(t *testing.T) {
	t.Parallel()

	b := setup(t)
	url := "http://" + b.listen(t) + busesPath

	send := func(role string, body io.Reader) answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
		require.NoError(t, err)
		r.Header.Set("Content-Type", formType)
		r.Header.Set("Authorization", "Bearer "+role)

		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)

		return read(t, response)
	}

	a := send("ADMIN", io.MultiReader(strings.NewReader(formBody("payload", busJSON, "photos", strings.Repeat("1", 3<<20)))))
	require.Equal(t, http.StatusCreated, a.status, a.body)
	require.Contains(t, a.body, strconv.Itoa(3<<20))

	part := "--edge\r\nContent-Disposition: form-data; name=photos\r\n\r\n"
	a = send("ADMIN", io.MultiReader(strings.NewReader(part), &endless{left: 64<<20 + 1<<10}))
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Contains(t, a.body, "67108864", "the form is, and not only its part")
	require.Equal(t, http.StatusUnauthorized, send("NOBODY", &endless{left: 8 << 20}).status)
	require.Equal(t, http.StatusForbidden, send("END_USER", &endless{left: 8 << 20}).status)
}

// A request that follows a form on the same connection is a request of its own, whether the form says its length or not.
func TestFormsOnAConnection(t *testing.T) {
	t.Parallel()

	b := setup(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.listen(t))
	require.NoError(t, err)

	defer conn.Close()

	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))

	good := formBody("payload", busJSON, "photos", strings.Repeat("1", 20_000))
	bad := formBody("payload", "{", "photos", strings.Repeat("1", 20_000))
	head := "POST " + busesPath + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ADMIN\r\nContent-Type: " + formType + "\r\n"
	answers := bufio.NewReader(conn)

	for range 2 {
		for _, form := range []string{good, bad, good + "epilogue", bad} {
			_, err = fmt.Fprintf(conn, "%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(form), form)
			require.NoError(t, err)
			_, err = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head, len(form), form)
			require.NoError(t, err)

			for range 2 {
				response, err := http.ReadResponse(answers, nil)
				require.NoError(t, err)

				a := read(t, response)
				if strings.HasPrefix(form, bad) {
					require.Equal(t, http.StatusBadRequest, a.status)
				} else {
					require.Equal(t, http.StatusCreated, a.status, a.body)
				}
			}
		}
	}
}
