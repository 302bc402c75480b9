package middleware

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rihla/models"
)

// translation are one text in the languages of the service. Those of an error's code are for the person in front of an app:
// what has happened, and what to do.
type translation struct {
	en, ar string
}

func (w translation) in(locale models.Locale) string {
	if locale == models.LocaleEnglish {
		return w.en
	}

	return w.ar
}

// unknownCode is said of a code without words of its own, which a test forbids.
var unknownCode = translation{"The request was not successful. Please try again.", "لم ينجح الطلب. حاول مرة أخرى."}

// codeWords are `ui_message`, by code.
var codeWords = map[models.Code]translation{
	models.CodeMalformedRequest: {
		"The request could not be read. Please try again.",
		"تعذّرت قراءة الطلب. حاول مرة أخرى.",
	},
	models.CodeUnauthenticated: {"Please sign in to continue.", "سجّل الدخول للمتابعة."},
	models.CodeInvalidCredentials: {
		"The e-mail address or the password is wrong.",
		"البريد الإلكتروني أو كلمة المرور غير صحيحة.",
	},
	models.CodeInvalidSignature: {"The signature is not valid.", "التوقيع غير صالح."},
	models.CodeForbidden:        {"You are not allowed to do this.", "ليست لديك صلاحية لهذا الإجراء."},
	models.CodeNotFound:         {"This was not found.", "العنصر المطلوب غير موجود."},
	models.CodeMethodNotAllowed: {"This action is not available here.", "هذا الإجراء غير متاح هنا."},
	models.CodePayloadTooLarge: {
		"What was sent is too large. Send less, or a smaller file.",
		"حجم ما أُرسل أكبر من المسموح. أرسل أقل، أو ملفًا أصغر.",
	},
	models.CodeUnsupportedMediaType: {"This kind of content is not supported.", "نوع المحتوى غير مدعوم."},
	models.CodeValidation: {
		"Some details are not right. Correct the fields that are marked and try again.",
		"بعض البيانات غير صحيحة. صحّح الحقول المحددة وحاول مرة أخرى.",
	},
	models.CodeTooManyMembers: {
		"What was sent has too many entries. Send fewer at once.",
		"ما أُرسل يحتوي على عناصر كثيرة جدًا. أرسل عددًا أقل في المرة الواحدة.",
	},
	models.CodeURITooLong: {"The address is too long.", "العنوان أطول من المسموح."},
	models.CodeRateLimited: {
		"Too many requests. Wait a moment and try again.",
		"طلبات كثيرة جدًا. انتظر قليلًا ثم حاول مرة أخرى.",
	},
	models.CodeInternal: {
		"Something went wrong on our side. Please try again.",
		"حدث خطأ لدينا. حاول مرة أخرى.",
	},
	models.CodeGatewayUnavailable: {
		"The payment service cannot be reached. Try again shortly.",
		"تعذّر الوصول إلى خدمة الدفع. حاول مرة أخرى بعد قليل.",
	},
	models.CodeServiceUnavailable: {
		"The service is not available at the moment. Try again shortly.",
		"الخدمة غير متاحة حاليًا. حاول مرة أخرى بعد قليل.",
	},
	models.CodeBusPlateAlreadyExists: {
		"There is a bus with this plate number already.", "توجد حافلة مسجلة برقم اللوحة هذا.",
	},
	models.CodeEmailAlreadyExists: {
		"There is an account with this e-mail address already.",
		"يوجد حساب مسجل بهذا البريد الإلكتروني.",
	},
	models.CodeTripCapacityReached: {"The trip has not enough seats left.", "لم تعد في الرحلة مقاعد كافية."},
	models.CodeTripNotBookable:     {"This trip cannot be booked any more.", "لم يعد حجز هذه الرحلة ممكنًا."},
	models.CodeBookingNotPayable:   {"This booking cannot be paid any more.", "لم يعد دفع هذا الحجز ممكنًا."},
	models.CodeCampaignNotPayable:  {"This campaign cannot be paid any more.", "لم يعد دفع هذه الحملة ممكنًا."},
	models.CodeInvalidState: {
		"This is not possible in the present state.",
		"هذا الإجراء غير ممكن في الحالة الحالية.",
	},
	models.CodeRefundExceedsRemaining: {
		"The amount is larger than what can still be refunded.", "المبلغ أكبر مما يمكن استرداده.",
	},
	models.CodeRefundAmountChanged: {
		"The refund would come to another amount now. Look at it again before you order it.",
		"تغيّر مبلغ الاسترداد. راجعه مرة أخرى قبل طلبه.",
	},
	models.CodePaymentDisputed: {
		"The customer's bank disputes this payment. Nothing of it can be refunded or paid out until the dispute is over.",
		"اعترض بنك العميل على هذه الدفعة. لا يمكن استرداد شيء منها أو تحويله حتى ينتهي الاعتراض.",
	},
	models.CodeApprovalRequired: {
		"This is more than one person may do within 24 hours. Another person has to do the rest.",
		"يتجاوز هذا ما يُسمح به لشخص واحد خلال 24 ساعة. يجب أن يكمل شخص آخر الباقي.",
	},
	models.CodeBookingNotRefundable: {
		"Nothing of this booking can be refunded.",
		"لا يوجد مبلغ قابل للاسترداد لهذا الحجز.",
	},
	models.CodeRecordNotTransferable: {
		"A record cannot be marked as transferred.",
		"لا يمكن تحديد السجل كمحوّل.",
	},
	models.CodePayoutReferenceUsed: {
		"The payout reference was used before. Check it, and confirm that it is to be used again.",
		"استُخدم مرجع التحويل هذا من قبل. تحقق منه، ثم أكّد استخدامه مرة أخرى.",
	},
	models.CodeIdempotencyKeyInProcess: {
		"The same request is still being handled. Wait a moment.",
		"لا يزال الطلب نفسه قيد المعالجة. انتظر قليلًا.",
	},
	models.CodeIdempotencyKeyReused: {
		"This request was sent before with other details. Start again.",
		"أُرسل هذا الطلب من قبل ببيانات مختلفة. ابدأ من جديد.",
	},
	models.CodeResourceInUse: {
		"This is still in use by a published trip.",
		"هذا العنصر مستخدم في رحلة منشورة.",
	},
	models.CodeReferenceNotOwned: {
		"A part of this belongs to another company or does not exist.",
		"أحد العناصر المختارة غير موجود أو يتبع شركة أخرى.",
	},
	"TOO_MANY_UNPAID_BOOKINGS": {
		"There are too many unpaid bookings. Pay or cancel one first.",
		"توجد حجوزات كثيرة غير مدفوعة. ادفع أحدها أو ألغه أولًا.",
	},
	"METHOD_NOT_AVAILABLE": {
		"This payment method is not available. Choose another one.",
		"طريقة الدفع هذه غير متاحة. اختر طريقة أخرى.",
	},
	models.CodePaymentInSuspense: {
		"Another amount or currency was paid than was asked for. It has to be given back before you can pay again.",
		"وصلت دفعة بمبلغ أو عملة غير المطلوب. يجب إعادتها إليك قبل أن تتمكن من الدفع مرة أخرى.",
	},
	models.CodeSecondFactorNeeded: {
		"Your role needs a second factor. Set one up to continue.",
		"دورك يتطلب التحقق بخطوتين. فعّله للمتابعة.",
	},
	models.CodeStepUpRequired: {
		"Type a code of your authenticator app to do this.",
		"أدخل رمزًا من تطبيق المصادقة لتنفيذ هذا الإجراء.",
	},
	models.CodeNoOpenCheckout: {
		"There is no open payment page for this booking. The customer has to start the payment again.",
		"لا توجد صفحة دفع مفتوحة لهذا الحجز. على العميل بدء الدفع من جديد.",
	},
	"WEBHOOK_ID_REUSED": {
		"This message number was used before.",
		"استُخدم رقم الرسالة هذا من قبل.",
	},
}

// causeWords are `ui_message` of errors whose code has more than one cause, by cause.
var causeWords = map[models.Cause]translation{
	models.CauseNoToken:      {"Please sign in to continue.", "سجّل الدخول للمتابعة."},
	models.CauseTokenInvalid: {"Your sign-in was not recognised. Sign in again.", "تعذّر التحقق من جلستك. سجّل الدخول من جديد."},
	models.CauseTokenExpired: {"Your sign-in has expired. Sign in again.", "انتهت صلاحية تسجيل دخولك. سجّل الدخول من جديد."},
	models.CauseTokenRevoked: {
		"Your account was changed, so your sign-in has ended. Sign in again.",
		"أُجري تغيير على حسابك فانتهت جلستك. سجّل الدخول من جديد.",
	},
	models.CauseAccountGone: {
		"This account was closed or locked. Contact support if this is not right.",
		"هذا الحساب مغلق أو موقوف. تواصل مع الدعم إذا كان ذلك غير صحيح.",
	},
	models.CauseSessionOver: {"Your session has ended. Sign in again.", "انتهت جلستك. سجّل الدخول من جديد."},
	models.CauseWrongPassword: {
		"The e-mail address or the password is wrong.", "البريد الإلكتروني أو كلمة المرور غير صحيحة.",
	},
	models.CauseWrongCode: {
		"The code is wrong, or was used before. Wait for the next one and try again.",
		"الرمز غير صحيح أو سبق استخدامه. انتظر الرمز التالي ثم حاول مرة أخرى.",
	},
	models.CauseNoChallenge: {
		"It took too long, or there were too many wrong codes. Sign in with your password again.",
		"انتهت المهلة أو كثرت الرموز الخاطئة. سجّل الدخول بكلمة المرور من جديد.",
	},
	models.CauseAccountChanged: {
		"Your account was changed a moment ago. Sign in again.", "أُجري تغيير على حسابك قبل لحظات. سجّل الدخول مرة أخرى.",
	},
	models.CauseRefreshToken: {
		"You were signed out on this device. Sign in again.", "سُجّل خروجك من هذا الجهاز. سجّل الدخول من جديد.",
	},
	models.CauseStepUpByCode: {
		"Type a code of your authenticator app to do this.", "أدخل رمزًا من تطبيق المصادقة لتنفيذ هذا الإجراء.",
	},
	models.CauseStepUpBySignOn: {
		"Sign in at your identity provider once more to do this.", "سجّل الدخول لدى مزوّد الهوية مرة أخرى لتنفيذ هذا الإجراء.",
	},
	models.CauseStepUpByNewAuth: {
		"Sign out and sign in once more to do this.", "سجّل الخروج ثم سجّل الدخول مرة أخرى لتنفيذ هذا الإجراء.",
	},
}

// uiMessage is `ui_message` of an error.
func uiMessage(code models.Code, cause models.Cause, locale models.Locale) string {
	if text, ok := causeWords[cause]; ok {
		return text.in(locale)
	}

	text, ok := codeWords[code]
	if !ok {
		text = unknownCode
	}

	return text.in(locale)
}

// uiDetails is `ui_details`: the details as texts for people. Only the details of 422 are about what a person has entered.
func uiDetails(status int, details map[string][]string, locale models.Locale) map[string][]string {
	if status != http.StatusUnprocessableEntity || len(details) == 0 {
		return nil
	}

	if locale == models.LocaleEnglish {
		return details
	}

	out := make(map[string][]string, len(details))

	for field, messages := range details {
		texts := make([]string, len(messages))
		for i, message := range messages {
			texts[i], _ = inArabic(message)
		}

		out[field] = slices.Compact(texts) // empty and blank are one word
	}

	return out
}

// notValid is what is said of a message without a translation, which a test forbids.
const notValid = "القيمة غير صالحة"

// inArabic translates a message of details, and reports whether there is a translation.
func inArabic(message string) (string, bool) {
	if text, ok := detailWords[message]; ok {
		return text, true
	}

	for i := range detailTemplates {
		if found := detailTemplates[i].pattern.FindStringSubmatch(message); found != nil {
			text := detailTemplates[i].ar
			for n, value := range found[1:] {
				place := strconv.Itoa(n + 1)
				text = strings.ReplaceAll(text, "{"+place+"}", strings.ReplaceAll(value, " or ", " أو "))

				for noun, forms := range countedNouns {
					text = strings.ReplaceAll(text, "{"+place+" "+noun+"}", forms.of(value))
				}
			}

			return text, true
		}
	}

	return notValid, false
}

// nounForms are the forms of a noun after a preposition, beside the numbers that ask for them.
type nounForms struct{ one, two, few, many, hundred string }

// countedNouns are what {1 character} and the like count in detailPhrases.
var countedNouns = map[string]nounForms{
	"character": {"حرف واحد", "حرفين", "أحرف", "حرفًا", "حرف"},
	"item":      {"عنصر واحد", "عنصرين", "عناصر", "عنصرًا", "عنصر"},
	"day":       {"يوم واحد", "يومين", "أيام", "يومًا", "يوم"},
	"record":    {"سجل واحد", "سجلين", "سجلات", "سجلًا", "سجل"},
	"decimal":   {"خانة عشرية واحدة", "خانتين عشريتين", "خانات عشرية", "خانة عشرية", "خانة عشرية"},
}

// of is the number with its noun, as CLDR's plural rules of Arabic have it; a value that is no number stays beside the plural.
func (f nounForms) of(value string) string {
	n, err := strconv.ParseUint(value, 10, 64)

	switch rest := n % 100; {
	case err != nil:
		return value + " " + f.few
	case n == 1:
		return f.one
	case n == 2:
		return f.two
	case rest >= 3 && rest <= 10:
		return value + " " + f.few
	case rest >= 11:
		return value + " " + f.many
	default:
		return value + " " + f.hundred
	}
}

// detailTemplate is a message with values in it.
type detailTemplate struct {
	pattern *regexp.Regexp
	ar      string
}

// detailTemplates are detailPhrases as patterns, the longest first: the more of a message is fixed, the surer it is.
var detailTemplates = templates(detailPhrases)

func templates(phrases map[string]string) []detailTemplate {
	longest := slices.SortedFunc(maps.Keys(phrases), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}

		return strings.Compare(a, b)
	})
	out := make([]detailTemplate, 0, len(longest))

	for _, phrase := range longest {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(phrase), `\{\}`, `(.+)`)
		out = append(out, detailTemplate{regexp.MustCompile("^(?s:" + pattern + ")$"), phrases[phrase]})
	}

	return out
}
