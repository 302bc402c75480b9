package hyperpay

// The page's words. A title and a note for every gateways.CheckoutStatus.

var arabic = map[string]string{
	"brand": "رحلة", "page_title": "الدفع الآمن", "amount": "المبلغ", "vat": "شامل ضريبة القيمة المضافة", "sar": "ر.س", "pay": "ادفع",
	"method": "طريقة الدفع", "ad": "حملة إعلانية", "policy": "سياسة الإلغاء", "remaining": "الوقت المتبقي", "leave": "العودة دون دفع",
	"expires": "ادفع قبل الساعة", "riyadh": "بتوقيت الرياض", "back": "العودة", "close": "يمكنك إغلاق هذه الصفحة.",
	"secure":     "تُدخل بيانات بطاقتك لدى هايبر باي، ولا تصل إلينا.",
	"no_script":  "يحتاج الدفع إلى تفعيل جافاسكريبت في متصفحك.",
	"open_title": "إتمام الدفع", "open_note": "", "again": "رُفضت البطاقة؟ ادفع بأخرى",
	"checking_title": "نتحقق من الدفع", "checking_note": "تتحدّث هذه الصفحة تلقائيًا. لا تدفع مرة أخرى قبل ظهور النتيجة.",
	"declined_any":     "رُفضت العملية ولم يُخصم أي مبلغ. حاول مرة أخرى أو ادفع ببطاقة أخرى.",
	"declined_funds":   "رُفضت العملية لعدم كفاية الرصيد أو لتجاوز حد البطاقة، ولم يُخصم أي مبلغ. ادفع ببطاقة أخرى.",
	"declined_details": "رُفضت العملية لأن بيانات البطاقة غير صحيحة أو انتهت صلاحيتها، ولم يُخصم أي مبلغ. تحقّق منها وحاول مرة أخرى.",
	"declined_proof":   "لم يكتمل التحقق لدى مصرفك، ولم يُخصم أي مبلغ. حاول مرة أخرى أو ادفع ببطاقة أخرى.",
	"paid_title":       "تم الدفع بنجاح", "paid_note": "استلمنا دفعتك. سيصلك التأكيد برسالة قريبًا.",
	"failed_title": "لم تتم عملية الدفع", "failed_note": "رُفضت العملية ولم يُخصم أي مبلغ.",
	"expired_title": "انتهت مهلة الدفع", "expired_note": "انتهت صلاحية هذه الصفحة. للمحاولة من جديد ارجع واختر الدفع.",
	"canceled_title": "أُلغي الدفع", "canceled_note": "للمحاولة من جديد ارجع واختر الدفع.",
}

var english = map[string]string{
	"brand": "Rihla", "page_title": "Secure payment", "amount": "Amount", "vat": "VAT included", "sar": "SAR", "pay": "Pay",
	"method": "Payment method", "ad": "Advertising campaign", "policy": "Cancellation policy", "remaining": "Time left",
	"leave":   "Go back without paying",
	"expires": "Pay before", "riyadh": "Riyadh time", "back": "Back", "close": "You may close this page.",
	"secure":     "Your card details are entered at HyperPay and do not reach us.",
	"no_script":  "To pay, JavaScript must be switched on in your browser.",
	"open_title": "Complete your payment", "open_note": "", "again": "Was the card declined? Pay with another one",
	"checking_title": "We are checking your payment",
	"checking_note":  "This page updates by itself. Do not pay again before it shows the result.",
	"paid_title":     "Payment received", "paid_note": "Thank you. A confirmation is on its way to you.",
	"declined_any":     "The payment was declined and nothing was charged. Try again, or pay with another card.",
	"declined_funds":   "The card has not enough money, or is over its limit. Nothing was charged. Pay with another card.",
	"declined_details": "The details of the card are wrong, or it has expired. Nothing was charged. Check them and try again.",
	"declined_proof":   "Your bank could not confirm that it is you. Nothing was charged. Try again, or pay with another card.",
	"failed_title":     "Payment not completed", "failed_note": "The payment was declined and nothing was charged.",
	"expired_title": "The time to pay is over", "expired_note": "This page has expired. To try again, go back and choose to pay.",
	"canceled_title": "Payment cancelled", "canceled_note": "To try again, go back and choose to pay.",
}
