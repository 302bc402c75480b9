package resources_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/e2e/rig"
	"rihla/internal/media"
	"rihla/models"
)

func photosWithABus(t *testing.T, s *harness.Stack) {
	t.Helper()

	var jpg bytes.Buffer

	require.NoError(t, jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 40, 30)), nil))

	c, body := s.As(models.RoleProviderStaff), buses.body(s, mark())
	files := []formPart{
		trailed(formPart{"photos", "front.txt", webpPicture(t)}), photo(picture(t)), trailed(formPart{"photos", "../../etc/passwd", jpg.Bytes()}),
	}
	types := []string{"image/webp", "image/png", "image/jpeg"}

	// Parts come in any order.
	bus, location := made(t, upload(t, c, buses.path, files[0], payload(t, body), files[1], files[2]))
	holds(t, body, bus)
	require.Equal(t, bus, data(t, http.StatusOK, c.Get(location)))

	got := photosIn(t, bus)
	require.Len(t, got, 3)

	for i, p := range got {
		require.Equal(t, types[i], p["content_type"])

		photo := kept(t, files[i])
		require.NotContains(t, string(photo), "taken at", "where it was taken is nobody's business")
		require.EqualValues(t, len(photo), p["size"])

		a := opened(t, s, p["url"])
		require.Equal(t, http.StatusOK, a.Status, "without a token")
		require.Equal(t, photo, a.Body)
		require.Equal(t, types[i], a.Header.Get("Content-Type"))
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "inline", a.Header.Get("Content-Disposition"))
		require.Regexp(t, `^private, max-age=\d{4}$`, a.Header.Get("Cache-Control"))

		path := strings.TrimPrefix(p["url"].(string), s.URL)
		head, err := s.Anybody().Do(http.MethodHead, path, nil, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, head.Status)
		require.Empty(t, head.Body)

		again, err := s.Anybody().Do(http.MethodGet, path, nil, map[string]string{"If-None-Match": `"x", ` + a.Header.Get("ETag")})
		require.NoError(t, err)
		require.Equal(t, http.StatusNotModified, again.Status)
		require.Empty(t, again.Body)
	}

	// The lists show them, to consumers too, and the bus keeps them whatever else changes.
	for _, path := range []string{buses.path, "/api/v1/buses"} {
		listed := decoded[[]object](t, http.StatusOK, s.As(models.RoleProviderAdmin).Get(path+"?search="+body["model"].(string)))
		require.Equal(t, bus["photos"], listed[0]["photos"])
	}

	body["capacity"] = 20
	require.Equal(t, bus["photos"], data(t, http.StatusOK, call(t, c, http.MethodPut, location, body))["photos"])
	require.Equal(t, bus["photos"], data(t, http.StatusOK, call(t, c, http.MethodPatch, location, object{"status": "INACTIVE"}))["photos"])

	alone, _ := made(t, upload(t, c, buses.path, payload(t, buses.body(s, "No photos"))))
	require.Empty(t, alone["photos"])
	require.NotContains(t, s.API.Log(), "signature=")
	require.NotContains(t, s.API.Log(), "passwd")
}

func photosOfABus(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderAdmin)
	bus, location := buses.create(t, s, c, "Coach")
	first, second := pictures(t, 2), pictures(t, 1)

	for i, files := range [][]formPart{first, second} {
		by := []*harness.Caller{c, s.As(models.RoleAdmin)}[i]
		a := upload(t, by, location+"/photos", files...)
		bus = data(t, http.StatusCreated, a)
		require.Equal(t, location, a.Header.Get("Location"))
		require.Len(t, photosIn(t, bus), 2+i)
	}

	all := photosIn(t, bus)
	require.Equal(t, second[0].content, opened(t, s, all[2]["url"]).Body, "behind those that were there")

	one := location + "/photos/" + all[0]["id"].(string)
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, one, nil).Status)
	require.Zero(t, stored(t, s, first[0]), "the file goes with the row")

	gone, never := opened(t, s, all[0]["url"]), s.Anybody().Get("/api/v1/media/"+uuid.NewString())
	refused(t, gone, http.StatusNotFound, models.CodeNotFound)
	require.Equal(t, string(never.Body), string(gone.Body))
	refused(t, call(t, c, http.MethodDelete, one, nil), http.StatusNotFound, models.CodeNotFound)
	require.Equal(t, bus["photos"].([]any)[1:], data(t, http.StatusOK, c.Get(location))["photos"])

	// Its plate is taken: neither the bus nor its photos are there.
	body, files := buses.body(s, "Second"), pictures(t, 3)
	body["plate_number"] = bus["plate_number"]
	refused(t, upload(t, c, buses.path, append(files, payload(t, body))...), http.StatusConflict, models.CodeBusPlateAlreadyExists)
	require.Zero(t, stored(t, s, files...))

	// A bus that is deleted takes its photos along.
	require.Equal(t, http.StatusOK, opened(t, s, all[1]["url"]).Status)
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, location, nil).Status)
	refused(t, opened(t, s, all[1]["url"]), http.StatusNotFound, models.CodeNotFound)
	refused(t, upload(t, c, location+"/photos", pictures(t, 1)...), http.StatusNotFound, models.CodeNotFound)
}

// photoLinks opens what must not open.
func photoLinks(t *testing.T, s *harness.Stack) {
	t.Helper()

	bus, _ := made(t, upload(t, s.As(models.RoleProviderStaff), buses.path, photo(picture(t)), payload(t, buses.body(s, "Coach"))))
	id := uuid.MustParse(photosIn(t, bus)[0]["id"].(string))

	link := func(secret string, at time.Time) string {
		l, err := media.NewLinks(s.URL, []string{secret}, time.Hour, func() time.Time { return at })
		require.NoError(t, err)

		return l.URL(id)
	}

	now := time.Now()
	require.Equal(t, http.StatusOK, opened(t, s, link(rig.MediaURLSecret, now)).Status)

	good := link(rig.MediaURLSecret, now)
	unsigned, _, _ := strings.Cut(good, "&")
	bare, _, _ := strings.Cut(good, "?")

	for name, address := range map[string]string{
		"expired": link(rig.MediaURLSecret, now.Add(-2*time.Hour)), "another secret": link("somebody-else-s-secret-0123456789", now),
		"no signature": unsigned, "nothing": bare, "longer": good + "A",
		"prolonged": strings.Replace(good, "expires=", "expires=9", 1), "another photo": strings.Replace(good, id.String(), uuid.NewString(), 1),
		"no id": strings.Replace(good, id.String(), "1", 1),
	} {
		a := opened(t, s, address)
		require.Equal(t, http.StatusNotFound, a.Status, name)
		require.Equal(t, models.CodeNotFound, a.Code(), name)
	}
}

// photoLimits are what is wrong with a form, and what comes first of several.
func photoLimits(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderStaff)
	_, location := buses.create(t, s, c, "Coach")
	add := location + "/photos"
	good, lie := photo(picture(t)), formPart{"photos", "photo.jpg", []byte("I am no picture")}
	large := photo(sized(t, media.MaxPhotoSize+1))
	bus := payload(t, buses.body(s, "Photos"))

	refused(t, upload(t, c, add, good, lie), http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)
	refused(t, upload(t, c, add, good, large), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
	refused(t, upload(t, c, buses.path, lie, good, large, formPart{"colour", "", nil}), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)
	refused(t, upload(t, c, buses.path, bus, lie, formPart{"colour", "", nil}), http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)
	refused(t, upload(t, c, buses.path, good, formPart{"payload", "", []byte(`{"model":`)}), http.StatusBadRequest, models.CodeMalformedRequest)
	refused(t, upload(t, c, buses.path, formPart{"payload", "", []byte("")}), http.StatusBadRequest, models.CodeMalformedRequest)
	refused(t, upload(t, c, buses.path, formPart{"payload", "", make([]byte, 1<<20+1)}), http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge)

	invalid(t, upload(t, c, add), "photos")
	invalid(t, upload(t, c, add, good, bus), "payload")
	invalid(t, upload(t, c, buses.path, good), "payload")
	invalid(t, upload(t, c, buses.path, good, bus, bus), "payload")
	invalid(t, upload(t, c, buses.path, good, bus, formPart{"Photos", "a.png", good.content}), "Photos")
	invalid(t, upload(t, c, buses.path+"?provider_id=1", good, bus), "provider_id")

	unknown := buses.body(s, "Photos")
	unknown["colour"], unknown["capacity"] = "red", 0
	delete(unknown, "status")
	invalid(t, upload(t, c, buses.path, good, payload(t, unknown)), "colour", "capacity", "status")

	invalid(t, upload(t, c, buses.path, append(pictures(t, 11), bus)...), "photos")
	invalid(t, upload(t, c, add, pictures(t, 11)...), "photos")

	body, contentType := form(t, good, bus)
	cut := callAs(t, c, http.MethodPost, buses.path, body[:len(body)-30], contentType)
	refused(t, cut, http.StatusBadRequest, models.CodeMalformedRequest)
	refused(t, callAs(t, c, http.MethodPost, add, body, "multipart/form-data"), http.StatusBadRequest, models.CodeMalformedRequest)
	refused(t, callAs(t, c, http.MethodPost, add, []byte{}, contentType), http.StatusBadRequest, models.CodeMalformedRequest)
	refused(t, call(t, c, http.MethodPost, add, object{}), http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)

	header := good
	header.file = strings.Repeat("x", 100<<10)
	refused(t, upload(t, c, add, header), http.StatusBadRequest, models.CodeMalformedRequest)

	require.Zero(t, stored(t, s, good), "nothing is left of what was refused")
	require.Empty(t, data(t, http.StatusOK, c.Get(location))["photos"])

	// As large and as many as may be.
	largest := photo(sized(t, media.MaxPhotoSize))
	require.Len(t, photosIn(t, data(t, http.StatusCreated, upload(t, c, add, largest))), 1)
	require.Len(t, photosIn(t, data(t, http.StatusCreated, upload(t, c, add, pictures(t, 8)...))), 9)
	invalid(t, upload(t, c, add, pictures(t, 2)...), "photos")
	require.Len(t, photosIn(t, data(t, http.StatusCreated, upload(t, c, add, pictures(t, 1)...))), 10)
}

// photoOwners is who may not touch a bus's photos.
func photoOwners(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, stranger := s.As(models.RoleProviderStaff), s.For(t).As(models.RoleProviderAdmin)
	bus, location := made(t, upload(t, c, buses.path, photo(picture(t)), payload(t, buses.body(s, "Coach"))))
	mine := location + "/photos/" + photosIn(t, bus)[0]["id"].(string)
	files := pictures(t, 2)

	refused(t, upload(t, stranger, location+"/photos", files...), http.StatusNotFound, models.CodeNotFound)
	refused(t, upload(t, stranger, location+"/photos", formPart{"photos", "a.png", []byte("x")}),
		http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)
	refused(t, upload(t, c, buses.path+"/1/photos", files...), http.StatusNotFound, models.CodeNotFound)
	refused(t, upload(t, c, buses.path+"/"+uuid.NewString()+"/photos", files...), http.StatusNotFound, models.CodeNotFound)
	refused(t, call(t, stranger, http.MethodDelete, mine, nil), http.StatusNotFound, models.CodeNotFound)

	refused(t, upload(t, s.Anybody(), location+"/photos", files...), http.StatusUnauthorized, models.CodeUnauthenticated)
	refused(t, upload(t, s.As(models.RoleEndUser), location+"/photos", files...), http.StatusForbidden, models.CodeForbidden)
	refused(t, upload(t, s.As(models.RoleFinanceAdmin), buses.path, files...), http.StatusForbidden, models.CodeForbidden)
	invalid(t, upload(t, s.As(models.RoleAdmin), buses.path, append(files, payload(t, buses.body(s, "Nobody's")))...), "provider_id")

	deactivate(t, s)
	refused(t, upload(t, c, location+"/photos", files...), http.StatusForbidden, models.CodeForbidden)
	refused(t, upload(t, c, buses.path, append(files, payload(t, buses.body(s, "Second")))...), http.StatusForbidden, models.CodeForbidden)
	refused(t, call(t, c, http.MethodDelete, mine, nil), http.StatusForbidden, models.CodeForbidden)
	require.Equal(t, bus["photos"], data(t, http.StatusOK, c.Get(location))["photos"], "it reads on")
	require.Zero(t, stored(t, s, files...))

	activate(t, s)
	require.Equal(t, http.StatusCreated, upload(t, c, location+"/photos", files...).Status)
}

// photosAtOnce adds more photos side by side than a bus may have.
func photosAtOnce(t *testing.T, s *harness.Stack) {
	t.Helper()

	const callers, each = 8, 3

	c := s.As(models.RoleProviderStaff)
	_, location := buses.create(t, s, c, "Coach")

	var wg sync.WaitGroup

	files := make([]formPart, 0, callers*each)
	answers := make([]harness.Answer, callers)
	errs := make([]error, callers)

	for i := range callers {
		mine := pictures(t, each)
		files = append(files, mine...)
		body, contentType := form(t, mine...)

		wg.Go(func() {
			answers[i], errs[i] = c.Do(http.MethodPost, location+"/photos", body, map[string]string{"Content-Type": contentType})
		})
	}

	wg.Wait()

	taken := 0

	for i, a := range answers {
		require.NoError(t, errs[i])

		if a.Status == http.StatusCreated {
			taken++
		} else {
			invalid(t, a, "photos")
		}
	}

	require.Equal(t, models.MaxBusPhotos/each, taken)
	require.Len(t, photosIn(t, data(t, http.StatusOK, c.Get(location))), taken*each)
	require.Equal(t, taken*each, stored(t, s, files...), fmt.Sprint(len(files), " were sent"))
}
