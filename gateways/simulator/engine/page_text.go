package engine

// The page's words. Keys are those the template and pageData use.

var arabic = map[string]string{
	"brand": "رحلة", "brand_latin": "Rihla", "page_title": "الدفع الآمن", "badge": "بيئة تجريبية — لا تُحصَّل أموال حقيقية",
	"amount": "المبلغ", "vat": "شامل ضريبة القيمة المضافة", "description": "تفاصيل الطلب", "reference": "رقم الطلب",
	"method": "طريقة الدفع", "expires": "تنتهي صلاحية الصفحة", "riyadh": "بتوقيت الرياض", "remaining": "الوقت المتبقي", "sar": "ر.س",
	"secure":             "لا تُحفظ بيانات الدفع ولا تُرسل.",
	"method_credit_card": "بطاقة ائتمانية", "method_debit_network": "بطاقة خصم", "method_wallet_a": "المحفظة أ",
	"method_wallet_b": "المحفظة ب", "method_bill_payment": "سداد فاتورة",
	"card_heading": "بيانات البطاقة", "card_number": "رقم البطاقة", "card_expiry": "تاريخ الانتهاء", "card_expiry_hint": "شهر / سنة",
	"card_cvv": "رمز الأمان", "card_name": "الاسم على البطاقة", "card_name_hint": "كما هو مكتوب على البطاقة",
	"wallet_heading": "الدفع بالمحفظة", "wallet_phone": "رقم الجوال المرتبط بالمحفظة", "wallet_code": "رمز التحقق",
	"bill_heading": "سداد الفاتورة", "bill_biller": "رمز المفوتر", "bill_number": "رقم الفاتورة",
	"bill_note": "ادفع الفاتورة من تطبيق مصرفك باستخدام الرقمين أعلاه. هنا يمكنك محاكاة السداد مباشرة.",
	"pay":       "ادفع", "decline": "محاكاة رفض الدفع", "cancel": "إلغاء والعودة", "cancel_plain": "إلغاء الدفع",
	"mock":      "نموذج تجريبي: لا حاجة إلى تعبئة الحقول، ولا يُرسل ما يُكتب فيها.",
	"again":     "حاول مرة أخرى",
	"again_how": "للمحاولة من جديد، ارجع إلى التطبيق أو الصفحة التي أتيت منها واختر الدفع: تُفتح عملية دفع جديدة.",
	"back":      "العودة إلى المتجر", "close": "يمكنك إغلاق هذه الصفحة.",
	"open_title": "إتمام الدفع", "open_note": "",
	"paid_title": "تم الدفع بنجاح", "paid_note": "استلمنا دفعتك. سيصلك التأكيد برسالة قريبًا.",
	"failed_title": "لم تتم عملية الدفع", "failed_note": "رُفضت العملية ولم يُخصم أي مبلغ.",
	"expired_title": "انتهت مهلة الدفع", "expired_note": "انتهت صلاحية هذه الصفحة ولم يُخصم أي مبلغ.",
	"canceled_title": "أُلغي الدفع", "canceled_note": "لم يُخصم أي مبلغ.",
	"missing_title": "الصفحة غير موجودة", "missing_note": "رابط الدفع غير صحيح. تحقّق من الرابط أو ارجع إلى المتجر.",
}

var english = map[string]string{
	"brand": "Rihla", "brand_latin": "رحلة", "page_title": "Secure payment", "badge": "Sandbox — no real money",
	"amount": "Amount", "vat": "VAT included", "description": "Your order", "reference": "Order number",
	"method": "Payment method", "expires": "This page expires", "riyadh": "Riyadh time", "remaining": "Time left", "sar": "SAR",
	"secure":             "Payment details are neither stored nor sent.",
	"method_credit_card": "Credit card", "method_debit_network": "Debit card", "method_wallet_a": "Wallet A",
	"method_wallet_b": "Wallet B", "method_bill_payment": "Bill payment",
	"card_heading": "Card details", "card_number": "Card number", "card_expiry": "Expiry date", "card_expiry_hint": "MM / YY",
	"card_cvv": "Security code", "card_name": "Name on card", "card_name_hint": "As printed on the card",
	"wallet_heading": "Pay with your wallet", "wallet_phone": "Mobile number of the wallet", "wallet_code": "Verification code",
	"bill_heading": "Pay the bill", "bill_biller": "Biller code", "bill_number": "Bill number",
	"bill_note": "Pay the bill in your bank's app with the two numbers above. Here you can simulate the payment at once.",
	"pay":       "Pay", "decline": "Simulate a decline", "cancel": "Cancel and go back", "cancel_plain": "Cancel payment",
	"mock":      "A mock form: the fields may stay empty, and nothing typed is sent.",
	"again":     "Try again",
	"again_how": "To try again, go back to the app or page that you came from and choose to pay: it opens a new payment.",
	"back":      "Back to the merchant", "close": "You may close this page.",
	"open_title": "Complete your payment", "open_note": "",
	"paid_title": "Payment received", "paid_note": "Thank you. A confirmation is on its way to you.",
	"failed_title": "Payment not completed", "failed_note": "The payment was declined and nothing was charged.",
	"expired_title": "The time to pay is over", "expired_note": "This page has expired and nothing was charged.",
	"canceled_title": "Payment cancelled", "canceled_note": "Nothing was charged.",
	"missing_title": "Page not found", "missing_note": "This payment link is not valid. Check the link or go back to the merchant.",
}

var arabicMonths = [...]string{
	"يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر",
}
