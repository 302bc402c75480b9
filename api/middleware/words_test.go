package middleware

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()

	for code := range statusOf {
		requireSentences(t, codeWords(code))
	}

	requireSentences(t, codeWords("NEW_CODE"))

	catalogue, err := os.ReadFile("../../models/words/en.json")
	require.NoError(t, err)

	var subjects map[string]map[string]any
	require.NoError(t, json.Unmarshal(catalogue, &subjects))
	require.Len(t, subjects["code"], len(statusOf)+1, "words of a code that does not exist")
	require.Len(t, subjects["cause"], len(models.Causes()), "words of a cause that does not exist")
}

// requireSentences: a text is a sentence in each language.
func requireSentences(t *testing.T, text models.Text) {
	t.Helper()

	require.Regexp(t, `^[A-Z][^{}]*\.$`, text.In(models.LocaleEnglish), text.Key)
	require.Regexp(t, `^\p{Arabic}[^{}A-Za-z]*\.$`, text.In(models.LocaleArabic), text.Key)
}

func TestUIDetails(t *testing.T) {
	t.Parallel()

	required := map[string][]models.Text{"a": {models.TextOf("field.required")}}

	require.Equal(t, map[string][]string{"a": {"is required"}}, uiDetails(422, required, models.LocaleEnglish))
	require.Equal(t, map[string][]string{"a": {"هذا الحقل مطلوب"}}, uiDetails(422, required, models.LocaleArabic))
	require.Equal(t, map[string][]string{"a": {"لا يمكن ترك هذا الحقل فارغًا"}}, uiDetails(422, map[string][]models.Text{
		"a": {models.TextOf("field.empty"), models.TextOf("field.blank")},
	}, models.LocaleArabic), "one thing is said once")
	require.Nil(t, uiDetails(500, required, models.LocaleArabic))
}

// TestWhyNot: INVALID_STATE says why, in the language of the person.
func TestWhyNot(t *testing.T) {
	t.Parallel()

	err := models.NewError(models.CodeInvalidState, "booking.cancelled_state", "status", models.BookingCancelled)

	require.Equal(t, "The booking is CANCELLED and cannot be cancelled.", err.Message())
	require.Equal(t, "The booking cannot be cancelled. Its status: Cancelled.", uiMessage(err, models.LocaleEnglish))
	require.Equal(t, "لا يمكن إلغاء الحجز. حالته: ملغى.", uiMessage(err, models.LocaleArabic))
	require.Equal(t, "هذا الإجراء غير ممكن في الحالة الحالية.", uiMessage(&models.Error{Code: models.CodeInvalidState}, models.LocaleArabic))
}

// TestEveryCauseHasWords: each cause of a code has words of its own, in both languages, and every 401 has a cause.
func TestEveryCauseHasWords(t *testing.T) {
	t.Parallel()

	seen := map[string]models.Cause{}

	for _, cause := range models.Causes() {
		text := models.TextOf(wordsOf("cause.", string(cause)))
		requireSentences(t, text)

		for _, words := range []string{text.In(models.LocaleEnglish), text.In(models.LocaleArabic)} {
			require.Empty(t, seen[words], "%s has the words of %s", cause, seen[words])
			seen[words] = cause
		}

		err := models.Because(cause)
		require.Equal(t, cause, err.Cause)
		require.NotEmpty(t, err.Message(), cause)
		require.Contains(t, statusOf, err.Code, cause)
		require.Equal(t, text.In(models.LocaleEnglish), uiMessage(err, models.LocaleEnglish))
		require.Equal(t, text.In(models.LocaleArabic), uiMessage(err, models.LocaleArabic))
	}

	// No 401 of a person is made without its cause; a sign-on is answered by a page, and a gateway's signature is no person's.
	without := regexp.MustCompile(`(NewError|NewSignOnError|signOnError)\(models\.Code(Unauthenticated|InvalidCredentials)\b`)

	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "signon.go") {
			return err
		}

		text, err := os.ReadFile(path)
		require.Empty(t, without.FindString(string(text)), path)

		return err
	}))
}
