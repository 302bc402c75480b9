package ticket_test

import (
	"bytes"
	"compress/zlib"
	"encoding/csv"
	"image"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/ticket"
	"rihla/models"
)

// booked is a booking of four, one of whom is cancelled, and its trip.
func booked() (models.Booking, models.Trip) {
	b := models.Booking{
		ID: claims.Passenger, Number: "RB-7XK2M9Q", Seats: 3, Status: models.BookingConfirmed, CancelledPositions: []int{2},
		Passengers: []models.Passenger{{Name: "مسافر أول"}, {Name: "Cancelled One"}, {Name: "Third <b>Passenger</b>"}, {Name: "مُسافر رابع"}},
	}
	trip := models.Trip{
		ID: claims.Trip, Title: "رحلة العمرة", Origin: "الرياض", Destination: "مكة", DepartureAt: noon, ReturnAt: noon.AddDate(0, 0, 3),
		ProviderName: "Test Tours",
	}

	return b, trip
}

func issued(t *testing.T) ticket.Ticket {
	t.Helper()

	b, trip := booked()
	tk, err := keys(t, key(1)).Of(&b, &trip, "+966500000000")
	require.NoError(t, err)

	return tk
}

func TestTicketsLeaveCancelledPassengersOut(t *testing.T) {
	t.Parallel()

	tk := issued(t)
	require.Len(t, tk.Passengers, 3)

	for i, position := range []int{1, 3, 4} {
		c, err := keys(t, key(1)).Verify(tk.Passengers[i].Token, tk.Return.AddDate(0, 0, 30).Add(-time.Second))
		require.NoError(t, err, "30 days after the return")
		require.Equal(t, position, c.Position)
		require.Equal(t, models.PassengerID(claims.Passenger, position), c.Passenger)

		_, err = keys(t, key(1)).Verify(tk.Passengers[i].Token, tk.Return.AddDate(0, 0, 30))
		require.ErrorIs(t, err, ticket.ErrInvalid)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()

	tk := issued(t)
	words := map[models.Locale][]string{
		models.LocaleArabic:  {`<html lang="ar" dir="rtl">`, "رقم الحجز", "الثلاثاء 1 ديسمبر 2026، الساعة 15:00 (بتوقيت الرياض)", "المسافر 3 من 3"},
		models.LocaleEnglish: {`<html lang="en" dir="ltr">`, "Booking number", "Tuesday, 1 December 2026, 15:00 (Riyadh time)", "Passenger 3 of 3"},
	}

	for lang, wanted := range words {
		page, policy, err := tk.HTML(lang)
		require.NoError(t, err)

		html := string(page)
		for _, text := range append(wanted, "RB-7XK2M9Q", "رحلة العمرة", "Test Tours", "مسافر أول", "Third &lt;b&gt;Passenger&lt;/b&gt;") {
			require.Contains(t, html, text, lang)
		}

		require.Contains(t, html, "966500000000")
		require.NotContains(t, html, "Cancelled One")
		require.NotRegexp(t, `(?i)<script|src=|href=|url\(|@import|https?:`, html, "it loads nothing")

		nonce := regexp.MustCompile(`<style nonce="(\w+)">`).FindStringSubmatch(html)
		require.Contains(t, policy, "style-src 'nonce-"+nonce[1]+"'")

		codes := regexp.MustCompile(`viewBox="0 0 (\d+) \d+" shape-rendering.*?<path d="([^"]+)"`).FindAllStringSubmatch(html, -1)
		require.Len(t, codes, 3)

		for i, c := range codes {
			require.Equal(t, modules(t, tk.Passengers[i].Token), drawn(t, c[1], c[2]), "the code of passenger %d", i+1)
		}
	}
}

// modules are the squares of the QR code of a text.
func modules(t *testing.T, text string) string {
	t.Helper()

	matrix, err := qr.Encode(text, qr.M, qr.Unicode)
	require.NoError(t, err)

	const border = 4

	return squares(matrix.Bounds().Inset(-border), func(x, y int) bool {
		return image.Pt(x, y).In(matrix.Bounds()) && color.GrayModel.Convert(matrix.At(x, y)) == color.Gray{}
	})
}

func squares(of image.Rectangle, dark func(x, y int) bool) string {
	var out strings.Builder

	for y := of.Min.Y; y < of.Max.Y; y++ {
		for x := of.Min.X; x < of.Max.X; x++ {
			out.WriteByte(map[bool]byte{true: '#', false: '.'}[dark(x, y)])
		}

		out.WriteByte('\n')
	}

	return out.String()
}

// drawn are the squares of an SVG's path.
func drawn(t *testing.T, size, path string) string {
	t.Helper()

	side, err := strconv.Atoi(size)
	require.NoError(t, err)

	dark := map[image.Point]bool{}

	for _, bar := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-\d+z`).FindAllStringSubmatch(path, -1) {
		x, _ := strconv.Atoi(bar[1])
		y, _ := strconv.Atoi(bar[2])
		width, _ := strconv.Atoi(bar[3])

		for i := range width {
			dark[image.Pt(x+i, y)] = true
		}
	}

	return squares(image.Rect(0, 0, side, side), func(x, y int) bool { return dark[image.Pt(x, y)] })
}

func TestPDF(t *testing.T) {
	t.Parallel()

	tk := issued(t)

	for _, lang := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
		file, err := tk.PDF(lang)
		require.NoError(t, err)
		require.Less(t, len(file), 100<<10)

		again, err := tk.PDF(lang)
		require.NoError(t, err)
		require.Equal(t, file, again)

		text := content(t, file)
		require.Positive(t, strings.Count(text, " re f"), "the codes")
		require.Contains(t, string(file), "/Lang ("+string(lang)+")")
	}

	tk.Passengers = append(append(tk.Passengers, tk.Passengers...), tk.Passengers...)

	file, err := tk.PDF(models.LocaleEnglish)
	require.NoError(t, err)
	require.Contains(t, string(file), "/Count 3", "four codes on the first page, then six on each")
}

// content is the streams of a PDF, unpacked.
func content(t *testing.T, file []byte) string {
	t.Helper()

	var out strings.Builder

	for _, part := range bytes.Split(file, []byte("stream\n"))[1:] {
		z, err := zlib.NewReader(bytes.NewReader(part))
		if err != nil {
			continue // what follows an endstream
		}

		text, err := io.ReadAll(z)
		require.NoError(t, err)
		out.Write(text)
	}

	return out.String()
}

func TestManifest(t *testing.T) {
	t.Parallel()

	_, trip := booked()
	boarded := noon.Add(-time.Hour)
	m := ticket.Manifest{Trip: trip, Passengers: []ticket.Boarding{
		{"RB-7XK2M9Q", "مسافر أول", "1000000001", "+966500000000", &boarded},
		{"RB-7XK2M9Q", "=HYPERLINK(1);-2", "D2", "", nil},
	}}

	file, err := m.CSV(models.LocaleEnglish)
	require.NoError(t, err)

	text, marked := strings.CutPrefix(string(file), "\ufeff")
	require.True(t, marked)

	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"No.", "Booking number", "Name", "Document number", "Phone", "Boarded at"},
		{"1", "RB-7XK2M9Q", "مسافر أول", "1000000001", "'+966500000000", "2026-12-01 14:00"},
		{"2", "RB-7XK2M9Q", "'=HYPERLINK(1);'-2", "D2", "", ""},
	}, rows)

	for range 100 {
		m.Passengers = append(m.Passengers, ticket.Boarding{"RB-7XK2M9Q", strings.Repeat("مسافر ", 10), uuid.NewString(), "+966500000000", nil})
	}

	list, err := m.PDF(models.LocaleArabic)
	require.NoError(t, err)
	require.Regexp(t, `/Count [3-9]`, string(list))
}
