package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"rihla/gateways/standardwebhook"
	"rihla/internal/config"
	"rihla/models"
)

// webhookAttempt is an attempt that a webhook can be about.
type webhookAttempt struct {
	id       uuid.UUID
	checkout string
}

// webhookMessage is a signed webhook, ready to be sent.
type webhookMessage struct {
	id, at, signature string
	body              []byte
}

// webhookSender sends messages that were signed before, each once, over connections that stay open.
type webhookSender struct {
	client   *fasthttp.HostClient
	url      string
	messages []webhookMessage
	next     atomic.Int64
}

const webhookPrice = "115.00"

// newSender signs a payment.succeeded about each of so many attempts.
func (b *webhooksBench) newSender(which webhookCase, n int) (*webhookSender, error) {
	secrets, err := standardwebhook.ParseSecrets(config.DevWebhookSecret(models.ChannelGatewayA).Reveal())
	if err != nil {
		return nil, err
	}

	s := &webhookSender{url: b.url + "/api/v1/payments/" + models.ChannelGatewayA.Path(), messages: make([]webhookMessage, n)}

	attempts := b.attempts[:n]
	if which.reference { // which keeps a message without looking at what it is about
		s.url = "http://" + b.reference.address + "/"
	} else {
		b.attempts = b.attempts[n:]
	}

	s.client = &fasthttp.HostClient{Addr: strings.Split(s.url, "/")[2], MaxConns: which.connections, NoDefaultUserAgentHeader: true}
	s.client.Dial = func(address string) (net.Conn, error) { return fasthttp.DialTimeout(address, startTime) }

	for i, a := range attempts {
		if s.messages[i], err = signedWebhook(secrets, a); err != nil {
			return nil, err
		}
	}

	return s, nil
}

func signedWebhook(secrets []standardwebhook.Secret, a webhookAttempt) (m webhookMessage, err error) {
	now := time.Now().UTC()

	m.id, m.at = "msg_"+uuid.NewString(), strconv.FormatInt(now.Unix(), 10)

	m.body, err = json.Marshal(map[string]any{
		"type": models.EventPaymentSucceeded, "timestamp": now.Format(time.RFC3339),
		"data": map[string]any{
			"checkout_id": a.checkout, "merchant_reference": a.id, "amount": json.RawMessage(webhookPrice), "currency": models.Currency,
			"payment_method": models.MethodCreditCard, "result_code": "000.000.000",
		},
	})
	if err != nil {
		return m, err
	}

	m.signature, err = standardwebhook.Sign(secrets, m.id, now, m.body)

	return m, err
}

// send sends the next message; an answer other than 200 is an error.
func (s *webhookSender) send(context.Context) error {
	m := &s.messages[s.next.Add(1)-1]

	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(answer)

	request.SetRequestURI(s.url)
	request.Header.SetMethod(fasthttp.MethodPost)
	request.Header.SetContentType("application/json")
	request.Header.Set(standardwebhook.HeaderID, m.id)
	request.Header.Set(standardwebhook.HeaderTimestamp, m.at)
	request.Header.Set(standardwebhook.HeaderSignature, m.signature)
	request.SetBodyRaw(m.body)

	if err := s.client.Do(request, answer); err != nil {
		return err
	}

	if answer.StatusCode() != fasthttp.StatusOK {
		return fmt.Errorf("a webhook was answered %d %s", answer.StatusCode(), answer.Body())
	}

	return nil
}

func (s *webhookSender) close() { s.client.CloseIdleConnections() }

// checkStored fails unless each message that was answered is stored, once.
func (b *webhooksBench) checkStored(ctx context.Context, which webhookCase, s *webhookSender) error {
	from := "webhook_events WHERE body IS NOT NULL AND outcome = '' AND"
	if which.reference {
		from = "bench_webhooks WHERE"
	}

	ids := make([]string, len(s.messages))
	for i := range s.messages {
		ids[i] = s.messages[i].id
	}

	var stored int

	err := b.db.QueryRowContext(ctx, "SELECT count(*) FROM "+from+" webhook_id = ANY($1)", ids).Scan(&stored)
	if err == nil && stored != len(ids) {
		err = fmt.Errorf("%d of %d webhooks that were answered 200 are stored", stored, len(ids))
	}

	return err
}

// The trips of the seeded bookings are filled in their order, one seat each.
const (
	insertBookings = `INSERT INTO bookings (id, trip_id, provider_id, user_id, seats, hold_until, amount, vat_rate, vat_amount, passengers,
			contact_name, contact_email, contact_phone, hold_method)
		SELECT gen_random_uuid(), t.id, t.provider_id, $1, 1, now() + interval '1 hour', t.price_per_seat, 0.15, 15, '[{"name": "Passenger"}]',
			'Customer', 'customer@rihla.test', '+966500000001', 'credit_card'
		FROM trips AS t, generate_series(1, $2)`
	insertAttempts = `INSERT INTO payment_transactions (id, kind, reference, user_id, provider_id, booking_id, amount, vat_rate, vat_amount,
			commission_rate, payment_method, gateway, channel, status, expires_at)
		SELECT gen_random_uuid(), 'PAYMENT', 'chk_' || b.id, b.user_id, b.provider_id, b.id, b.amount, b.vat_rate, b.vat_amount,
			0.1, 'credit_card', 'gateway_a', 'gateway_a', 'PENDING', b.hold_until
		FROM bookings AS b RETURNING id, reference`
	fillTrips = `UPDATE trips SET seats_taken = $1`
)

// seedAttempts makes as many open attempts at least, each of a booking of its own.
func (b *webhooksBench) seedAttempts(ctx context.Context, n int) (out []webhookAttempt, err error) {
	if err = b.seed(ctx, n); err != nil {
		return nil, err
	}

	// The trips are already there; their seats need not count while they are taken.
	if _, err = b.db.ExecContext(ctx, insertBookings, b.user, seatsPerTrip); err != nil {
		return nil, fmt.Errorf("seed bookings: %w", err)
	}

	if _, err = b.db.ExecContext(ctx, fillTrips, seatsPerTrip); err != nil {
		return nil, fmt.Errorf("fill trips: %w", err)
	}

	rows, err := b.db.QueryContext(ctx, insertAttempts)
	if err != nil {
		return nil, fmt.Errorf("seed attempts: %w", err)
	}
	defer rows.Close()

	for rows.Next() {
		var a webhookAttempt
		if err = rows.Scan(&a.id, &a.checkout); err != nil {
			return nil, err
		}

		out = append(out, a)
	}

	if err = rows.Err(); err != nil {
		return nil, err
	}

	_, err = b.db.ExecContext(ctx, "VACUUM ANALYZE")

	return out, err
}
