package operations

import (
	"reflect"
	"strings"
	"sync"

	"rihla/models"
)

// labelled fills the labels of an answer: of each field X beside which XLabelAr and XLabelEn are (rules: api.labels). A field without a
// value, or whose labels its handler writes itself, is left as it is.
func labelled[T any](answer T) T {
	v := reflect.ValueOf(&answer).Elem()

	for _, f := range labelledFields(v.Type()) {
		label := labelOf(v.Type().Name()+"."+f.name, v.Field(f.value))
		if label.AR == "" {
			continue
		}

		setText(v.Field(f.ar), label.AR)
		setText(v.Field(f.en), label.EN)
	}

	return answer
}

// labelledField is where a struct has a value and its labels.
type labelledField struct {
	name          string
	value, ar, en int
}

var labelPlans sync.Map // of labelledField slices, by type

func labelledFields(of reflect.Type) []labelledField {
	if plan, ok := labelPlans.Load(of); ok {
		return plan.([]labelledField) //nolint:forcetypeassert // nothing else is stored
	}

	var plan []labelledField

	for i := range of.NumField() {
		name, isLabel := strings.CutSuffix(of.Field(i).Name, "LabelAr")
		value, hasValue := of.FieldByName(name)
		english, hasEnglish := of.FieldByName(name + "LabelEn")

		if isLabel && hasValue && hasEnglish {
			plan = append(plan, labelledField{name: name, value: value.Index[0], ar: i, en: english.Index[0]})
		}
	}

	labelPlans.Store(of, plan)

	return plan
}

// labelOf is the label of a value; empty for nil and for a text that has none.
func labelOf(field string, v reflect.Value) models.Label {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return models.Label{}
		}

		v = v.Elem()
	}

	if l, ok := reflect.TypeAssert[interface{ Label() models.Label }](v); ok {
		return l.Label()
	}

	if words, ok := textLabels[field]; ok && v.Kind() == reflect.String {
		return words(v.String())
	}

	return models.Label{}
}

func setText(v reflect.Value, text string) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.ValueOf(&text))
	} else {
		v.SetString(text)
	}
}

// textLabels are the labels of enums that only the document has, or whose type has none.
var textLabels = map[string]func(string) models.Label{
	"Refund.FailureCode": models.RefundFailureLabel,
	"AuditLog.ActorKind": wordsOf(map[string]models.Label{
		"USER": {AR: "مستخدم", EN: "User"}, "OPERATOR": {AR: "مشغّل النظام", EN: "Operator"}, "SYSTEM": {AR: "النظام", EN: "System"},
	}),
	"PaymentMethodOffer.Refunds": wordsOf(map[string]models.Label{
		"NONE": {AR: "تحويل يدوي فقط", EN: "By finance staff only"}, "FULL": {AR: "كامل فقط", EN: "Full only"},
		"PARTIAL": {AR: "كامل أو جزئي", EN: "Full or partial"},
	}),
	"PaymentMethodOffer.UnavailableReason": wordsOf(map[string]models.Label{
		"FAILING": {AR: "بوابة الدفع لا تستجيب", EN: "The gateway does not answer"}, "PAUSED": {AR: "متوقفة مؤقتًا", EN: "Paused"},
		"UNAUTHORIZED": {AR: "غير متاحة حاليًا", EN: "Switched off"},
	}),
	"CheckoutMessage.Channel": wordsOf(map[string]models.Label{
		"EMAIL": {AR: "بريد إلكتروني", EN: "Email"}, "SMS": {AR: "رسالة نصية", EN: "SMS"},
	}),
	"IncidentRepair.Kind": wordsOf(map[string]models.Label{
		"REFUND_PAYMENT": {AR: "رد المبلغ المدفوع كاملًا", EN: "Refund the payment"},
		"PAY_OUT_REFUND": {AR: "صرف الاسترداد بتحويل بنكي", EN: "Pay the refund out by bank transfer"},
	}),
	"IncidentRepair.State": wordsOf(map[string]models.Label{
		"DUE": {AR: "مطلوب", EN: "Due"}, "UNDER_WAY": {AR: "قيد التنفيذ", EN: "Under way"}, "DONE": {AR: "تم", EN: "Done"},
	}),
	"OwnAccount.Factor": wordsOf(map[string]models.Label{
		"OWN":    {AR: "رمز تحقق", EN: "A code"},
		"ISSUER": {AR: "تسجيل الدخول مجددًا لدى مزود الهوية", EN: "A new sign-in at the identity provider"},
		"NONE":   {AR: "لا يوجد", EN: "None"},
	}),
	"TimelineEntry.Kind": wordsOf(map[string]models.Label{
		"STATE_CHANGE": {AR: "تغيّر الحالة", EN: "State"}, "WEBHOOK": {AR: "إشعار من بوابة الدفع", EN: "Webhook"},
		"LEDGER": {AR: "قيد محاسبي", EN: "Ledger"}, "NOTIFICATION": {AR: "رسالة", EN: "Message"},
		"REFUND": {AR: "استرداد", EN: "Refund"}, "INCIDENT": {AR: "بلاغ", EN: "Incident"},
	}),
}

func wordsOf(words map[string]models.Label) func(string) models.Label {
	return func(value string) models.Label { return words[value] }
}
