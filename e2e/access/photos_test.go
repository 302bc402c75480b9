package access_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// photoForm is a body with one photo, and its header.
func photoForm(t *testing.T) ([]byte, map[string]string) {
	t.Helper()

	var body bytes.Buffer

	form := multipart.NewWriter(&body)
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="photos"; filename="bus.png"`}, "Content-Type": {"image/png"},
	})
	require.NoError(t, err)
	require.NoError(t, png.Encode(part, image.NewGray(image.Rect(0, 0, 2, 2))))
	require.NoError(t, form.Close())

	return body.Bytes(), map[string]string{"Content-Type": form.FormDataContentType()}
}

// photo is a photo of a bus, and the address at which it opens.
type photo struct {
	ID  uuid.UUID `json:"id"`
	URL string    `json:"url"`
}

func (w *world) addPhoto(t *testing.T, bus uuid.UUID) photo {
	t.Helper()

	body, header := photoForm(t)
	a, err := w.callers["SUPER_ADMIN"].Do(http.MethodPost, "/api/v1/provider/buses/"+bus.String()+"/photos", body, header)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

	var data struct {
		Photos []photo `json:"photos"`
	}

	require.NoError(t, a.Data(&data))

	return data.Photos[len(data.Photos)-1]
}

// ownPhotos gives a company's bus a photo, and one that is deleted.
func (w *world) ownPhotos(t *testing.T, company string) {
	t.Helper()

	bus := w.shared["Bus "+company]
	kept, gone := w.addPhoto(t, bus), w.addPhoto(t, bus)
	w.shared["photo "+company], w.photoURLs[company] = kept.ID, kept.URL
	w.deleted["photo "+company] = gone.ID

	a, err := w.callers["SUPER_ADMIN"].Do(http.MethodDelete, "/api/v1/provider/buses/"+bus.String()+"/photos/"+gone.ID.String(), nil, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, a.Status, "%s", a.Body)
}

// photo is a bus's photo, under the path of that bus.
func (w *world) photo(t *testing.T, c cell) []string {
	t.Helper()

	own := w.shared["Bus "+home(c.caller)].String()

	switch {
	case c.kind == "deleted":
		return []string{own, w.deleted["photo "+home(c.caller)].String()}
	case c.kind == "never" || c.kind == "odd":
		return append([]string{own}, kept(c, uuid.Nil)...)
	case c.want < http.StatusBadRequest:
		bus := w.make(t, "Bus", c.kind)

		return []string{bus.String(), w.addPhoto(t, bus).ID.String()}
	default:
		return []string{w.shared["Bus "+c.kind].String(), w.shared["photo "+c.kind].String()}
	}
}

// photoFile opens a photo, with the signature of its address.
func (w *world) photoFile(t *testing.T, c cell) request {
	t.Helper()

	address, err := url.Parse(w.photoURLs["A"])
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(address.Path, w.shared["photo A"].String()), address.Path)

	r := request{ids: kept(c, w.shared["photo A"]), query: "?" + address.RawQuery}
	if c.kind == "unsigned" {
		r.query = ""
	}

	return r
}
