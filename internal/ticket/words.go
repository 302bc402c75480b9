package ticket

import (
	"rihla/internal/brand"
	"rihla/models"
)

// words are what tickets and passenger lists say in one language.
type words struct {
	Brand, Ticket, Booking, Route, Departure, Returns, Company, Passenger, Seats, Of, Code, Show, Help string

	// Of passenger lists.
	Manifest, Number, Name, Document, Phone, Boarded, Page string
}

var languages = map[models.Locale]words{
	models.LocaleArabic: {
		Brand:  brand.Name(models.LocaleArabic),
		Ticket: "تذكرة سفر", Booking: "رقم الحجز", Route: "المسار", Departure: "المغادرة", Returns: "العودة", Company: "الشركة",
		Passenger: "المسافر", Seats: "المقاعد", Of: "من", Code: "رمز التذكرة",
		Show:     "أظهر الرمز عند الصعود إلى الحافلة. لا تحتاج هذه التذكرة إلى اتصال بالإنترنت.",
		Help:     "للاستفسار عن الرحلة اتصل بالشركة واذكر رقم الحجز:",
		Manifest: "قائمة المسافرين", Number: "م", Name: "الاسم", Document: "رقم الوثيقة", Phone: "الجوال", Boarded: "وقت الصعود",
		Page: "صفحة",
	},
	models.LocaleEnglish: {
		Brand:  brand.Name(models.LocaleEnglish),
		Ticket: "Ticket", Booking: "Booking number", Route: "Route", Departure: "Departure", Returns: "Return",
		Company: "Company", Passenger: "Passenger", Seats: "Seats", Of: "of", Code: "Code of the ticket",
		Show:     "Show the code when you board the bus. This ticket needs no network.",
		Help:     "For questions about the trip call the company and give the booking number:",
		Manifest: "Passenger list", Number: "No.", Name: "Name", Document: "Document number", Phone: "Phone", Boarded: "Boarded at",
		Page: "Page",
	},
}

func wordsOf(lang models.Locale) words {
	if w, ok := languages[lang]; ok {
		return w
	}

	return languages[models.LocaleArabic]
}
