package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"rihla/e2e/rig"
	"rihla/internal/auth"
	"rihla/internal/process"
)

// The reference of a poll is the least that a server does for one: Fiber, the signature of a token with its algorithm pinned, one
// prepared SELECT of the booking and its attempt, and JSON. It checks neither account nor parameters, counts and logs nothing.
const (
	statusReady = "reference serves"
	statusPath  = "/api/v1/bookings/:id/payment-status"
	statusSQL   = `SELECT bk.status, bk.amount::text, bk.currency, pt.id, pt.status, pt.payment_method, pt.checkout_url, pt.expires_at,
		pt.updated_at FROM bookings AS bk
		JOIN LATERAL (SELECT * FROM payment_transactions WHERE booking_id = bk.id AND kind = 'PAYMENT'
			ORDER BY attempt DESC LIMIT 1) AS pt ON true
		WHERE bk.id = $1 AND bk.user_id = $2`
)

type referenceStatus struct {
	BookingID     uuid.UUID `json:"booking_id"`
	BookingStatus string    `json:"booking_status"`
	Amount        string    `json:"amount"`
	Currency      string    `json:"currency"`
	TransactionID uuid.UUID `json:"transaction_id"`
	PaymentStatus string    `json:"payment_status"`
	PaymentMethod string    `json:"payment_method"`
	CheckoutURL   *string   `json:"checkout_url"`
	ExpiresAt     time.Time `json:"expires_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

func newReferenceStatus() *cobra.Command {
	var address, url, keys string

	c := &cobra.Command{
		Use: "reference-status", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := readPublicKey(keys)
			if err != nil {
				return err
			}

			pool, err := pgxpool.New(cmd.Context(), url)
			if err != nil {
				return err
			}
			defer pool.Close()

			app := fiber.New(fiber.Config{DisableStartupMessage: true})
			app.Get(statusPath, func(f *fiber.Ctx) error { return answerStatus(f, pool, key) })

			listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", address)
			if err != nil {
				return err
			}

			fmt.Fprintln(cmd.OutOrStdout(), statusReady)

			return app.Listener(listener)
		},
	}
	c.Flags().StringVar(&address, "address", "", "to listen on")
	c.Flags().StringVar(&url, "database", "", "of the service")
	c.Flags().StringVar(&keys, "keys", "", "file of the service's signing key")

	return c
}

func answerStatus(f *fiber.Ctx, pool *pgxpool.Pool, key ed25519.PublicKey) error {
	token, ok := strings.CutPrefix(f.Get(fiber.HeaderAuthorization), "Bearer ")
	if !ok {
		return fiber.ErrUnauthorized
	}

	claims := jwt.RegisteredClaims{}
	if _, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience),
		jwt.WithExpirationRequired()); err != nil {
		return fiber.ErrUnauthorized
	}

	booking, err := uuid.Parse(f.Params("id"))
	if err != nil {
		return fiber.ErrNotFound
	}

	s := referenceStatus{BookingID: booking}

	err = pool.QueryRow(f.Context(), statusSQL, booking, claims.Subject).Scan(&s.BookingStatus, &s.Amount, &s.Currency, &s.TransactionID,
		&s.PaymentStatus, &s.PaymentMethod, &s.CheckoutURL, &s.ExpiresAt, &s.UpdatedAt)
	if err != nil {
		return err
	}

	// One that waits is kept: a goroutine, its stack and the buffers of its connection are what any server has of it.
	if wait := f.QueryInt("wait"); wait > 0 {
		time.Sleep(time.Duration(wait) * time.Second)
	}

	return f.JSON(s)
}

// readPublicKey has the key ring say which key it is: its form is JWKS.
func readPublicKey(file string) (ed25519.PublicKey, error) {
	ring, err := auth.LoadKeyring(file)
	if err != nil {
		return nil, err
	}

	return publicKeyOf(ring.JWKS())
}

// statusServer is the reference as a process, whose CPU can be told from that of the load.
type statusServer struct {
	*process.Program

	address string
}

func (s *stage) startStatusServer(ctx context.Context) (*statusServer, error) {
	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}

	program, err := s.startHidden(ctx, statusReady, "reference-status", "--address", address, "--database",
		s.stack.DatabaseURL+poolSize(s.stack.DatabaseURL), "--keys", s.keyFile())

	return &statusServer{Program: program, address: address}, err
}

// startHidden starts another process of this program.
func (s *stage) startHidden(ctx context.Context, ready string, args ...string) (*process.Program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	program := &process.Program{
		Command: process.Command{
			Name: args[0], Path: self, Args: args, Orphan: syscall.SIGKILL, Log: filepath.Join(s.dir, "logs", args[0]+".log"),
		},
		Settings: map[string]string{"PATH": os.Getenv("PATH"), "HOME": s.dir}, ReadyLine: ready,
	}

	if err := program.Start(); err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	if err := program.Await(ctx); err != nil {
		program.Kill()

		return nil, errors.Join(err, ctx.Err())
	}

	return program, nil
}

// poolSize gives the reference as many connections as the service has.
func poolSize(url string) string {
	if strings.Contains(url, "?") {
		return "&pool_max_conns=20"
	}

	return "?pool_max_conns=20"
}

// publicKeyOf is the first key of a set.
func publicKeyOf(jwks []byte) (ed25519.PublicKey, error) {
	var set struct {
		Keys []struct {
			X string `json:"x"`
		} `json:"keys"`
	}

	if err := json.Unmarshal(jwks, &set); err != nil {
		return nil, err
	}

	return base64.RawURLEncoding.DecodeString(set.Keys[0].X)
}
