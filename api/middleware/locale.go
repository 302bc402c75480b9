package middleware

import (
	"golang.org/x/text/language"

	"rihla/models"
)

// maxAcceptLanguage bounds what is parsed; browsers send less than 100 bytes.
const maxAcceptLanguage = 256

var (
	locales       = []models.Locale{models.LocaleArabic, models.LocaleEnglish}
	localeMatcher = language.NewMatcher([]language.Tag{language.Arabic, language.English})
)

// localeOf chooses the language of an answer; missing, unreadable and unsupported headers mean Arabic (rules: api.language).
func localeOf(acceptLanguage string) models.Locale {
	switch acceptLanguage {
	case "", "ar":
		return models.LocaleArabic
	case "en":
		return models.LocaleEnglish
	}

	if len(acceptLanguage) > maxAcceptLanguage {
		return models.LocaleArabic
	}

	wanted, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil {
		return models.LocaleArabic
	}

	_, index, confidence := localeMatcher.Match(wanted...)
	if confidence == language.No {
		return models.LocaleArabic
	}

	return locales[index]
}
