package cmd

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/media"
	"rihla/models"
)

// formType is the content type of most seeds.
const formType = "multipart/form-data; boundary=fuzz"

const busesPath = "/api/v1/provider/buses"

// FuzzMultipart creates buses with any body that says it is a form. An accepted form is stored in full, photos included;
// a rejected one leaves no row and no file.
func FuzzMultipart(f *testing.F) {
	b := setupFuzz(f)

	for _, seed := range formSeeds(f) {
		f.Add(formType, []byte(seed))
	}

	whole := form(busPart("FUZZ NEW"), photoPart("a.jpg", "image/jpeg", jpegPhoto(f)))
	for _, contentType := range []string{
		"multipart/form-data", `multipart/form-data; boundary="fuzz"`, "multipart/form-data; boundary=", "multipart/form-data; boundary=other",
		"MULTIPART/Form-Data; BOUNDARY=fuzz; charset=utf-16", "multipart/form-data; boundary=fuzz; boundary=fuzz", "multipart/mixed; boundary=fuzz",
		"multipart/form-data; boundary=" + strings.Repeat("x", 71), "multipart/form-data; boundary*=utf-8''fuzz", "application/json", "", ";", "\xff",
	} {
		f.Add(contentType, []byte(whole))
	}

	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		if len(body) > 1<<20 {
			return
		}

		before := b.fingerprint(t)
		header := map[string]string{"Content-Type": headerValue(contentType)}
		answer := b.call(t, http.MethodPost, busesPath, models.RoleProviderAdmin, body, header)

		if answer.Status != http.StatusCreated {
			require.Contains(t, []int{
				http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
				http.StatusUnprocessableEntity,
			}, answer.Status, "%s", answer.Body)
			require.Equal(t, before, b.fingerprint(t), "a refused form changes nothing")
			require.Empty(t, b.files(t), "a refused form leaves no file")

			return
		}

		bus := object(t, answer)
		b.checkUpload(t, header["Content-Type"], body, bus)

		for _, table := range []string{"bus_photos WHERE bus_id = $1", "audit_log WHERE entity_id = $1", "buses WHERE id = $1"} {
			b.exec(t, "DELETE FROM "+table, bus["id"])
		}

		for _, file := range b.files(t) {
			require.NoError(t, os.Remove(file))
		}
	})
}

// files are all that the storage of photos has.
func (b *fuzzBundle) files(t *testing.T) []string {
	t.Helper()

	var out []string

	err := filepath.WalkDir(b.media, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}

		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}

	return out
}

// checkUpload reads the form once more, with another reader, and wants the bus to have what it holds.
func (b *fuzzBundle) checkUpload(t *testing.T, contentType string, body []byte, bus map[string]any) {
	t.Helper()

	photos, _ := bus["photos"].([]any)
	require.Len(t, b.files(t), len(photos))

	mediaType, params, err := mime.ParseMediaType(contentType)
	require.NoError(t, err)

	if mediaType == "application/json" {
		require.Empty(t, photos)

		return
	}

	payload, files := partsOf(t, body, params["boundary"])
	require.Len(t, photos, len(files))
	require.Equal(t, strings.TrimSpace(payload.PlateNumber), bus["plate_number"])

	for i, photo := range photos {
		p, _ := photo.(map[string]any)
		require.Equal(t, http.DetectContentType(files[i]), p["content_type"])

		kept, ok := media.Strip(http.DetectContentType(files[i]), files[i])
		require.True(t, ok)
		require.Equal(t, json.Number(strconv.Itoa(len(kept))), p["size"])

		address, err := url.Parse(fmt.Sprint(p["url"]))
		require.NoError(t, err)

		opened := b.call(t, http.MethodGet, address.RequestURI(), "", nil, nil)
		require.Equal(t, http.StatusOK, opened.Status)
		require.Equal(t, kept, opened.Body, "the photo is what was sent, without what is no picture")
	}
}

type busPayload struct {
	PlateNumber string `json:"plate_number"`
}

func partsOf(t *testing.T, body []byte, boundary string) (payload busPayload, files [][]byte) {
	t.Helper()

	// A last line without its end is all right for us, and nothing for this reader.
	r := multipart.NewReader(io.MultiReader(bytes.NewReader(body), strings.NewReader("\r\n")), boundary)

	for {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return payload, files
		}

		require.NoError(t, err)

		text, err := io.ReadAll(part)
		require.NoError(t, err)

		if part.FormName() == "payload" {
			require.NoError(t, json.Unmarshal(text, &payload))
		} else {
			require.Equal(t, "photos", part.FormName())

			files = append(files, text)
		}
	}
}

func form(parts ...string) string {
	return "--fuzz\r\n" + strings.Join(parts, "\r\n--fuzz\r\n") + "\r\n--fuzz--\r\n"
}

func busPart(plate string) string {
	return "Content-Disposition: form-data; name=\"payload\"\r\nContent-Type: application/json\r\n\r\n" +
		`{"plate_number":"` + plate + `","model":"Coach","capacity":40,"driver":{"name":"Fuzz Driver"},"status":"ACTIVE"}`
}

func photoPart(name, contentType, content string) string {
	return fmt.Sprintf("Content-Disposition: form-data; name=\"photos\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n%s", name, contentType, content)
}

func jpegPhoto(tb testing.TB) string {
	tb.Helper()

	var out bytes.Buffer

	require.NoError(tb, jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8)), &jpeg.Options{Quality: 1}))

	return out.String()
}

func pngPhoto(tb testing.TB) string {
	tb.Helper()

	var out bytes.Buffer

	require.NoError(tb, png.Encode(&out, image.NewGray(image.Rect(0, 0, 2, 2))))

	return out.String()
}

// formSeeds are forms that are good, and forms that are bad in one way each.
func formSeeds(tb testing.TB) []string {
	tb.Helper()

	bus, jpg, pic := busPart("FUZZ NEW"), jpegPhoto(tb), pngPhoto(tb)
	webp, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	require.NoError(tb, err)

	photo := photoPart("a.jpg", "image/jpeg", jpg)
	good := form(bus, photo, photoPart("b.png", "image/png", pic), photoPart("c.webp", "image/webp", string(webp)))

	// An image that says it is larger than it is, by far.
	bomb := []byte(pic)
	binary.BigEndian.PutUint32(bomb[16:], 1<<31-1)
	binary.BigEndian.PutUint32(bomb[20:], 1<<31-1)

	return []string{
		good, form(bus), form(photo, bus), form(photo), form(bus, bus), form(busPart("FUZZ 0"), photo), form(busPart(" fuzz 0 ")), form(busPart(`\u0000`)), "",
		form(bus, photo, photo, photo, photo, photo, photo, photo, photo, photo, photo, photo),
		form(bus, photoPart("evil.jpg", "image/jpeg", "<script>alert(1)</script>")), form(bus, photoPart("a.jpg", "text/html", jpg)),
		form(bus, photoPart("../../etc/passwd", "image/jpeg", jpg)), form(bus, photoPart("a\x00.jpg", "image/jpeg", jpg)), form(bus, photoPart("", "", "")),
		form(bus, photoPart("a.jpg", "image/jpeg", jpg[:len(jpg)/2])), form(bus, photoPart("a.png", "image/png", string(bomb))),
		form(bus, photoPart("a.gif", "image/gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00;")), form(bus, photoPart("a.jpg", "image/jpeg", jpg+"<?php ?>")),
		form(bus, "Content-Disposition: form-data; name=\"extra\"\r\n\r\n1"), form(bus, "Content-Disposition: form-data\r\n\r\n1"), form(bus, "\r\n1"),
		form(bus, "Content-Disposition: form-data; name=\"photos[]\"\r\n\r\n"+jpg), form(bus, "Content-Disposition: form-data; name=photos\r\n\r\n"+jpg),
		form("Content-Disposition: form-data; name=\"payload\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=7B=7D"),
		form(strings.Replace(bus, "Content-Type:", "Content-Transfer-Encoding: base64\r\nContent-Type:", 1)),
		form("Content-Disposition: form-data; name=\"payload\"\r\n\r\n"), form("Content-Disposition: form-data; name=\"payload\"\r\n\r\nnull"),
		form("Content-Disposition: form-data; name=\"payload\"\r\n\r\n{\"a\":1,\"a\":2}"), form("Content-Disposition: form-data; name=\"payload\"\r\n\r\n\xff"),
		form(strings.Replace(bus, "Content-Disposition", "X: "+strings.Repeat("x", 70<<10)+"\r\nContent-Disposition", 1)),
		form(strings.Replace(bus, "Content-Disposition", strings.Repeat("X: x\r\n", 2000)+"Content-Disposition", 1)),
		form("Content-Disposition: form-data; name=\"photos\"\r\nContent-Type: multipart/mixed; boundary=in\r\n\r\n--in\r\n\r\n"+jpg+"\r\n--in--", bus),
		strings.TrimSuffix(good, "--\r\n"), strings.TrimSuffix(good, "\r\n"), good[:len(good)/2], good + "epilogue", "preamble\r\n" + good, good + good,
		strings.ReplaceAll(form(bus), "\r\n", "\n"), "--fuzz--\r\n", "--fuzz\r\n--fuzz--\r\n", "--fuzz", "\r\n\r\n", strings.Repeat("--fuzz\r\n\r\n\r\n", 101) + "--fuzz--",
		strings.Replace(good, "--fuzz--", "--fuzz --", 1), strings.Replace(form(bus), "form-data", "attachment", 1), strings.Replace(form(bus), "form-data", "FORM-DATA", 1),
	}
}
