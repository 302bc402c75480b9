package models

// Label is an enum value in the words people read (rules: api.labels).
type Label struct {
	AR, EN string
}

// In picks the language.
func (l Label) In(locale Locale) string {
	if locale == LocaleEnglish {
		return l.EN
	}

	return l.AR
}

var methodLabels = map[PaymentMethod]Label{
	MethodCreditCard:   {AR: "بطاقة ائتمانية", EN: "Credit card"},
	MethodDebitNetwork: {AR: "بطاقة خصم", EN: "Debit card"},
	MethodWalletA:      {AR: "المحفظة أ", EN: "Wallet A"},
	MethodWalletB:      {AR: "المحفظة ب", EN: "Wallet B"},
	MethodBillPayment:  {AR: "سداد فاتورة", EN: "Bill payment"},
}

// Label is the payment method for people.
func (m PaymentMethod) Label() Label { return methodLabels[m] }

var bookingLabels = map[BookingStatus]Label{
	BookingPendingPayment: {"بانتظار الدفع", "Pending payment"},
	BookingConfirmed:      {"مؤكد", "Confirmed"},
	BookingPaymentFailed:  {"لم يُدفع", "Not paid"},
	BookingCancelled:      {"ملغى", "Cancelled"},
}

// Label is the booking status for people.
func (s BookingStatus) Label() Label { return bookingLabels[s] }

var transactionLabels = map[TransactionStatus]Label{
	TransactionPending:       {"قيد التنفيذ", "In progress"},
	TransactionPaid:          {"مكتملة", "Completed"},
	TransactionFailed:        {"فاشلة", "Failed"},
	TransactionRefunded:      {"مستردة", "Refunded"},
	TransactionPartialRefund: {"مستردة جزئيًا", "Partially refunded"},
}

// Label is the transaction status for people.
func (s TransactionStatus) Label() Label { return transactionLabels[s] }

// UILabel is one of the three labels that the clients show, or "in progress" (rules: payments.status).
func (s TransactionStatus) UILabel() Label {
	if s == TransactionPartialRefund {
		return transactionLabels[TransactionRefunded]
	}

	return transactionLabels[s]
}

var balanceLabels = map[BalanceStatus]Label{
	BalanceInCurrent:   {"ضمن الرصيد الحالي", "In current balance"},
	BalanceTransferred: {"تم التحويل", "Paid out"},
	BalanceRefunded:    {"مسترد", "Refunded"},
}

// Label is the balance status for people.
func (s BalanceStatus) Label() Label { return balanceLabels[s] }

var recordKindLabels = map[RecordKind]Label{
	RecordSale:        {"بيع", "Sale"},
	RecordAdvertising: {"إعلان", "Advertising"},
	RecordClawback:    {"استرجاع من الشركة", "Claw-back"},
	RecordAdjustment:  {"تسوية رصيد", "Adjustment"},
}

// The details of ledger entries that the service words itself begin with these; a transaction number, or the titles of trip and campaign,
// follow. Entries are kept with the English ones.
var recordDetails = map[RecordKind]Label{
	RecordAdvertising: {"حملة إعلانية لرحلة ", "Ad campaign for trip "},
	RecordClawback:    {"استرجاع عن العملية ", "Claw-back of "},
	RecordAdjustment:  {"تسوية رصيد عن مبلغ مسترد", "Adjustment for a refund"},
}

// Details begin an entry's details in words of the service; empty of a kind that has none.
func (k RecordKind) Details() Label { return recordDetails[k] }

// Label is the kind of a ledger entry for people.
func (k RecordKind) Label() Label { return recordKindLabels[k] }

var campaignLabels = map[CampaignStatus]Label{
	CampaignPendingPayment: {"بانتظار الدفع", "Pending payment"},
	CampaignPaymentFailed:  {"لم تُدفع", "Not paid"},
	CampaignScheduled:      {"مجدولة", "Scheduled"},
	CampaignActive:         {"نشطة", "Active"},
	CampaignPaused:         {"متوقفة مؤقتًا", "Paused"},
	CampaignEnded:          {"منتهية", "Ended"},
	CampaignCancelled:      {"ملغاة", "Cancelled"},
}

// Label is the campaign status for people.
func (s CampaignStatus) Label() Label { return campaignLabels[s] }

var refundLabels = map[RefundStatus]Label{
	RefundPending:   {"قيد التنفيذ", "In progress"},
	RefundSucceeded: {"مكتمل", "Completed"},
	RefundFailed:    {"فاشل", "Failed"},
}

// Label is the refund status for people.
func (s RefundStatus) Label() Label { return refundLabels[s] }

var tripLabels = map[TripStatus]Label{
	TripDraft:      {"مسودة", "Draft"},
	TripPublished:  {"منشورة", "Published"},
	TripCancelling: {"قيد الإلغاء", "Being cancelled"},
	TripCancelled:  {"ملغاة", "Cancelled"},
}

// Label is the trip status for people.
func (s TripStatus) Label() Label { return tripLabels[s] }

var incidentLabels = map[IncidentKind]Label{
	IncidentAmountMismatch:   {"اختلاف في المبلغ", "Amount mismatch"},
	IncidentCurrencyMismatch: {"اختلاف في العملة", "Currency mismatch"},
	IncidentLatePayment:      {"دفعة متأخرة", "Late payment"},
	IncidentRefundFailed:     {"فشل الاسترداد", "Refund failed"},
	IncidentRefundMismatch:   {"اختلاف في الاسترداد", "Refund mismatch"},
	IncidentRefundUnordered:  {"استرداد بلا طلب", "Refund without an order"},
	IncidentUnknownReference: {"مرجع غير معروف", "Unknown reference"},
	IncidentUnknownEvent:     {"حدث غير معروف", "Unknown event"},
	IncidentWebhookIDReused:  {"معرّف إشعار مكرر برسالة أخرى", "Webhook id used twice"},
	IncidentPaymentDisputed:  {"اعتراض على دفعة", "Payment disputed"},
	IncidentOutsideRefund:    {"استرداد خارج النظام", "Refunded outside the service"},
	IncidentReferenceClash:   {"تعارض في المرجع", "Reference conflict"},
	IncidentTripBlocked:      {"حجز لم يُلغَ مع رحلته", "Booking of a cancelled trip"},
	IncidentGatewayOutage:    {"تعطل بوابة الدفع", "Gateway outage"},
	IncidentAuditDifference:  {"فرق في التدقيق", "Audit difference"},
}

// Label is the incident's kind for people.
func (k IncidentKind) Label() Label { return incidentLabels[k] }

// IncidentStatusLabel is the state of an incident for people.
func IncidentStatusLabel(status string) Label {
	if status == IncidentResolved {
		return Label{"مغلق", "Resolved"}
	}

	return Label{"مفتوح", "Open"}
}

var exportLabels = map[ExportStatus]Label{
	ExportRunning:   {"قيد التصدير", "Running"},
	ExportCompleted: {"مكتمل", "Completed"},
	ExportStopped:   {"انقطع", "Interrupted"},
	ExportUnknown:   {"غير معروف", "Unknown"},
}

// Label is the export's status for people.
func (s ExportStatus) Label() Label { return exportLabels[s] }

var resourceLabels = map[string]Label{
	StatusActive:           {"نشط", "Active"},
	StatusInactive:         {"غير نشط", "Inactive"},
	StatusUnderMaintenance: {"تحت الصيانة", "Under maintenance"},
}

// ResourceStatusLabel is the state of a provider, bus, hotel or rest stop for people.
func ResourceStatusLabel(status string) Label { return resourceLabels[status] }

var tripTypeLabels = map[TripType]Label{
	TripUmrah:   {"عمرة", "Umrah"},
	TripTourism: {"سياحة", "Tourism"},
}

// Label is the type of trip for people.
func (t TripType) Label() Label { return tripTypeLabels[t] }

var roleLabels = map[Role]Label{
	RoleEndUser:       {"عميل", "Customer"},
	RoleProviderStaff: {"موظف شركة", "Provider staff"},
	RoleProviderAdmin: {"مدير شركة", "Provider admin"},
	RoleSupportAgent:  {"موظف دعم", "Support agent"},
	RoleFinanceAdmin:  {"مسؤول مالي", "Finance admin"},
	RoleAdmin:         {"مسؤول", "Admin"},
	RoleSuperAdmin:    {"مسؤول أعلى", "Super admin"},
}

// Label is the role for people.
func (r Role) Label() Label { return roleLabels[r] }

var failureLabels = map[FailureCode]Label{
	FailureDeclined:         {"رُفضت عملية الدفع", "Declined"},
	FailureExpired:          {"انتهت مهلة الدفع", "Time to pay is over"},
	FailureCancelled:        {"أُلغيت", "Cancelled"},
	FailureGatewayRejected:  {"رفضتها بوابة الدفع", "Rejected by the gateway"},
	FailureAmountMismatch:   {"اختلاف في المبلغ", "Amount mismatch"},
	FailureCurrencyMismatch: {"اختلاف في العملة", "Currency mismatch"},
	FailurePaidTwice:        {"دفعة مكررة", "Second payment"},
}

// Label is why a payment failed, for people.
func (c FailureCode) Label() Label { return failureLabels[c] }

var transactionKindLabels = map[TransactionKind]Label{
	KindPayment:     {"دفعة", "Payment"},
	KindRefund:      {"استرداد", "Refund"},
	KindSecondDebit: {"دفعة مكررة", "Second payment"},
}

// Label is the kind of transaction for people.
func (k TransactionKind) Label() Label { return transactionKindLabels[k] }

var gatewayLabels = map[Gateway]Label{
	GatewayA:       {"بوابة الدفع أ", "Gateway A"},
	GatewayWalletB: {"بوابة المحفظة ب", "Wallet B gateway"},
}

// Label is the gateway for people.
func (g Gateway) Label() Label { return gatewayLabels[g] }

var refundTypeLabels = map[RefundType]Label{
	RefundFull:    {"كامل", "Full"},
	RefundPartial: {"جزئي", "Partial"},
	RefundPolicy:  {"حسب سياسة الإلغاء", "By the cancellation policy"},
}

// Label is the type of refund for people.
func (t RefundType) Label() Label { return refundTypeLabels[t] }

var refundChannelLabels = map[RefundChannel]Label{
	RefundByGateway: {"عبر بوابة الدفع", "Through the gateway"},
	RefundByHand:    {"تحويل يدوي", "Transfer by finance staff"},
}

// Label is the way of a refund's money for people.
func (c RefundChannel) Label() Label { return refundChannelLabels[c] }

var policyReasonLabels = map[PolicyReason]Label{
	PolicyNow:           {"سياسة الإلغاء الحالية", "Cancellation policy of now"},
	PolicyAtBooking:     {"سياسة الإلغاء وقت الحجز", "Cancellation policy at booking"},
	PolicyRescheduled:   {"تغيّر موعد الرحلة", "The trip was moved"},
	PolicyTripCancelled: {"أُلغيت الرحلة", "The trip was cancelled"},
}

// Label says for people which terms gave the percentage of a refund.
func (r PolicyReason) Label() Label { return policyReasonLabels[r] }

var approvalLabels = map[ApprovalDecision]Label{
	ApprovalApproved: {"تمت الموافقة", "Approved"},
	ApprovalRejected: {"مرفوض", "Rejected"},
	ApprovalExpired:  {"انتهت مهلة الموافقة", "Not approved in time"},
}

// Label is the decision for people.
func (d ApprovalDecision) Label() Label { return approvalLabels[d] }

var exportKindLabels = map[ExportKind]Label{
	ExportFinancialRecords: {"السجلات المالية", "Financial records"},
	ExportAuditLog:         {"سجل التدقيق", "Audit log"},
}

// Label is what was exported, for people.
func (k ExportKind) Label() Label { return exportKindLabels[k] }

var accountLabels = map[AccountState]Label{
	AccountActive:  {"نشط", "Active"},
	AccountLocked:  {"مقفل", "Locked"},
	AccountInvited: {"مدعو", "Invited"},
}

// Label is the state of an account for people.
func (s AccountState) Label() Label { return accountLabels[s] }

// DeclinedNotice says of a try that was declined that another one can be made.
var DeclinedNotice = Label{
	"رُفضت العملية ولم يُخصم أي مبلغ. يمكنك المحاولة مرة أخرى أو الدفع ببطاقة أخرى.",
	"The payment was declined and nothing was charged. You can try again, or pay with another card.",
}

// BookingStaysNotice says of a refund that leaves a fee what becomes of the booking.
var BookingStaysNotice = Label{
	"يبقى الحجز مؤكدًا بعد هذا الاسترداد: تُعاد قيمة الاسترداد حسب سياسة الإلغاء ولا يُلغى الحجز.",
	"The booking stays confirmed after this refund: the amount is given back by the cancellation policy, and nothing is cancelled.",
}

var refundFailureLabels = map[string]Label{
	"GATEWAY_REJECTED":  {"رفضته بوابة الدفع", "Rejected by the gateway"},
	"PAYOUT_REJECTED":   {"رُفض التحويل اليدوي", "Payout rejected"},
	"APPROVAL_REJECTED": {"لم تتم الموافقة عليه", "Not approved"},
	"APPROVAL_EXPIRED":  {"انتهت مهلة الموافقة", "Not approved in time"},
}

// RefundFailureLabel is why a refund failed, for people.
func RefundFailureLabel(code string) Label { return refundFailureLabels[code] }

var passengerLabels = map[PassengerStatus]Label{
	PassengerConfirmed: {"مؤكد", "Confirmed"},
	PassengerCancelled: {"ملغى", "Cancelled"},
}

// Label is the state of a passenger for people.
func (s PassengerStatus) Label() Label { return passengerLabels[s] }

var cancellationRequestLabels = map[CancellationRequestStatus]Label{
	CancellationRequested: {"قيد النظر", "Requested"},
	CancellationApproved:  {"تمت الموافقة", "Approved"},
	CancellationRejected:  {"مرفوض", "Rejected"},
	CancellationWithdrawn: {"مسحوب", "Withdrawn"},
	CancellationExpired:   {"انتهت مهلته", "Expired"},
}

// Label is the state of a cancellation request for people.
func (s CancellationRequestStatus) Label() Label { return cancellationRequestLabels[s] }

var resendLabels = map[ResendKind]Label{
	ResendConfirmation: {"تأكيد الحجز", "Confirmation"},
	ResendRefund:       {"إشعار الاسترداد", "Refund"},
	ResendTicket:       {"التذكرة", "Ticket"},
}

// Label is a message that can be sent again, for people.
func (k ResendKind) Label() Label { return resendLabels[k] }

var bearerLabels = map[RefundBearer]Label{
	BearProportionally: {"كل طرف بحصته", "Each its share"},
	BearByPlatform:     {"المنصة وحدها", "The platform alone"},
	BearByProvider:     {"الشركة وحدها", "The company alone"},
}

// Label is who bears a refund, for people.
func (b RefundBearer) Label() Label { return bearerLabels[b] }

var refundCauseLabels = map[RefundCause]Label{
	RefundCustomerCancelled: {"إلغاء من العميل", "Cancelled by the customer"},
	RefundTripChanged:       {"تغيّر موعد الرحلة", "Trip changed"},
	RefundTripCancelled:     {"أُلغيت الرحلة", "Trip cancelled"},
	RefundNotProvided:       {"لم تُقدَّم الخدمة", "Service not provided"},
	RefundDuplicate:         {"دفع مكرر", "Paid twice"},
	RefundGoodwill:          {"بادرة حسن نية", "Goodwill"},
	RefundOther:             {"سبب آخر", "Other"},
}

// Label is why money goes back, for people.
func (c RefundCause) Label() Label { return refundCauseLabels[c] }

var cancellationLabels = map[CancellationStatus]Label{
	CancellationPending: {"بانتظار الموافقة", "Waiting for approval"},
	CancellationDone:    {"منفَّذ", "Done"},
	CancellationVoid:    {"غير منفَّذ", "Not carried out"},
}

// Label is the state of a cancellation for people.
func (s CancellationStatus) Label() Label { return cancellationLabels[s] }

var cancelRefundLabels = map[CancelRefund]Label{
	CancelByPolicy: {"حسب سياسة الإلغاء", "By the policy"},
	CancelInFull:   {"كامل المبلغ", "In full"},
	CancelByAmount: {"مبلغ محدد", "An amount"},
	CancelUnpaid:   {"دون استرداد", "Nothing"},
}

// Label is how what goes back for a cancellation is found, for people.
func (r CancelRefund) Label() Label { return cancelRefundLabels[r] }

var tripCancellationLabels = map[TripCancellationStatus]Label{
	TripCancellationRunning:  {"قيد الإلغاء", "Being cancelled"},
	TripCancellationDone:     {"ملغاة", "Cancelled"},
	TripCancellationRejected: {"مرفوض", "Rejected"},
	TripCancellationExpired:  {"انتهت مهلته", "Expired"},
}

// Label is the state of the cancellation of a trip for people.
func (s TripCancellationStatus) Label() Label { return tripCancellationLabels[s] }
