package notify

import (
	"io/fs"
	"log/slog"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

func newTestNotifier(t *testing.T, environ map[string]string) (n *Notifier, outbox string) {
	t.Helper()

	environ["DATA_DIR"] = t.TempDir()
	cfg, err := config.Load(environ)
	require.NoError(t, err)

	cfg.Notify.BookingURL = "https://rihla.test/bookings/{booking_number}?id={booking_id}"
	n, err = New(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(n.Close)

	return n, filepath.Join(environ["DATA_DIR"], "outbox")
}

func TestOutboxWithoutAnyConfiguration(t *testing.T) {
	t.Parallel()

	n, outbox := newTestNotifier(t, map[string]string{})
	letter := testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleArabic)
	sms := testMessage(models.NotifyPaymentSucceeded, models.NotifySMS, models.LocaleArabic)

	var wg sync.WaitGroup
	errs := make([]error, 10)

	for i := range errs { // a message that is delivered again, at once and by several workers, is one file
		wg.Go(func() {
			errs[i] = n.Send(t.Context(), []Message{letter, sms}[i%2])
		})
	}

	wg.Wait()

	for _, err := range errs {
		require.NoError(t, err)
	}

	entries, err := os.ReadDir(outbox)
	require.NoError(t, err)
	require.Len(t, entries, 2)

	text, err := os.ReadFile(filepath.Join(outbox, sms.ID.String()+".sms.txt"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "To: +966501234567\n\nرحلة: تم تأكيد"), string(text))

	path := filepath.Join(outbox, letter.ID.String()+".eml")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	f, err := os.Open(path)
	require.NoError(t, err)

	t.Cleanup(func() { require.NoError(t, f.Close()) })

	eml, err := mail.ReadMessage(f)
	require.NoError(t, err)

	subject, err := new(mime.WordDecoder).DecodeHeader(eml.Header.Get("Subject"))
	require.NoError(t, err)
	require.Equal(t, "تأكيد الحجز \u2068RB-7XK010A\u2069: عمرة من الرياض", subject)
	require.Equal(t, "<"+letter.ID.String()+"@rihla.test>", eml.Header.Get("Message-ID"))
	require.Equal(t, "<traveller@example.com>", eml.Header.Get("To"))
	require.Equal(t, "auto-generated", eml.Header.Get("Auto-Submitted"))
	require.Equal(t, "ar", eml.Header.Get("Content-Language"))
	require.Contains(t, eml.Header.Get("Content-Type"), "multipart/related")
}

func TestBadRecipientsArePermanent(t *testing.T) {
	t.Parallel()

	n, outbox := newTestNotifier(t, map[string]string{})

	for _, to := range []string{"", "nobody", "a@b@c", "12", "+96650123456789012", "call me", "x@example.com\r\nBcc: y@example.com"} {
		for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS, "PIGEON"} {
			m := testMessage(models.NotifyPaymentFailed, channel, models.LocaleArabic)
			m.To = to
			err := n.Send(t.Context(), m)
			require.True(t, IsPermanent(err), "%s %q", channel, to)

			if to != "" {
				require.NotContains(t, err.Error(), to)
			}
		}
	}

	require.NoDirExists(t, outbox)
}

func TestFullDiskIsTemporary(t *testing.T) {
	t.Parallel()

	n, outbox := newTestNotifier(t, map[string]string{})
	require.NoError(t, os.WriteFile(outbox, nil, 0o600)) // a file where the folder should be

	err := n.Send(t.Context(), testMessage(models.NotifyCampaignPaid, models.NotifyEmail, models.LocaleArabic))
	require.Error(t, err)
	require.False(t, IsPermanent(err))
}

func TestMessageOf(t *testing.T) {
	t.Parallel()

	want := testMessage(models.NotifyRefundSucceeded, models.NotifySMS, models.LocaleEnglish)
	require.Equal(t, want, MessageOf(&models.Notification{
		ID: want.ID, Kind: want.Kind, Channel: want.Channel, Locale: want.Locale, Recipient: want.To, Data: want.Data,
	}))
}

// TestAddressesOfBefore: messages that were queued before texts were cleaned reach the address that was meant.
func TestAddressesOfBefore(t *testing.T) {
	t.Parallel()

	to, err := mailAddress("\u202asara@rih\u200bla.test\u202c")
	require.NoError(t, err)
	require.Equal(t, "sara@rihla.test", to.Address)
}
