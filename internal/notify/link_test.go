package notify

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestRenderAccountMails: a mail about an account has its link, if it has one, and is no SMS.
func TestRenderAccountMails(t *testing.T) {
	t.Parallel()

	const address = "https://rihla.test/console/page#secret"

	linked := []models.NotificationKind{models.NotifyVerifyEmail, models.NotifyResetPassword, models.NotifyInvitation}
	others := []models.NotificationKind{
		models.NotifyAlreadyRegistered, models.NotifyPasswordChanged, models.NotifySecondFactorAdded, models.NotifySecondFactorRemoved,
		models.NotifySessionStolen, models.NotifyAdminAdded,
	}

	for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
		subjects := map[string]bool{}

		for i, kind := range append(append([]models.NotificationKind{}, linked...), others...) {
			require.True(t, kind.IsAboutAccount(), kind)

			m := Message{
				ID: uuid.New(), Kind: kind, Channel: models.NotifyEmail, Locale: locale, To: "sara@example.com", Data: map[string]string{DataName: "Sara"},
			}
			if i < len(linked) {
				m.Link = address
			}

			out, err := newTestRenderer(t).Render(m)
			require.NoError(t, err, kind)
			require.False(t, subjects[out.Subject], out.Subject)
			require.NotContains(t, out.Text, "<no value>")

			subjects[out.Subject] = true

			if i < len(linked) {
				require.Contains(t, out.Text, address)
				require.Contains(t, out.HTML, `href="`+address+`"`)
			} else {
				require.NotContains(t, out.Text, "http")
			}

			m.Channel = models.NotifySMS
			_, err = newTestRenderer(t).Render(m)
			require.True(t, IsPermanent(err), kind)
		}
	}
}
