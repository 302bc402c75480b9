package notify

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestRenderAccountLocked: the one message without an amount.
func TestRenderAccountLocked(t *testing.T) {
	t.Parallel()

	for locale, want := range map[models.Locale][]string{
		models.LocaleEnglish: {"Sign-in to your account is locked", "Hello Sara,", "Locked until: Saturday, 28 November 2026, 00:30 (Riyadh time)"},
		models.LocaleArabic:  {"تم قفل تسجيل الدخول إلى حسابك", "مقفل حتى: السبت 28 نوفمبر 2026، الساعة 00:30"},
	} {
		out, err := newTestRenderer(t).Render(Message{
			ID: uuid.New(), Kind: models.NotifyAccountLocked, Channel: models.NotifyEmail, Locale: locale, To: "sara@example.com",
			Data: map[string]string{DataName: "Sara", DataLockedUntil: "2026-11-27T21:30:00Z"},
		})
		require.NoError(t, err)

		for _, text := range want {
			require.Contains(t, out.Subject+"\n"+out.Text, text)
		}
	}
}
