package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"image/png"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"rihla/models"
)

// The codes are those that every authenticator app makes (RFC 6238): SHA-1, 6 digits, a new one every 30 seconds. The one before and
// the one after count, too, for clocks that differ.
const (
	totpPeriod   = 30
	totpSkew     = 1
	totpDigits   = otp.DigitsSix
	totpSecret   = 20 // bytes, as long as the hash (RFC 4226 §4)
	totpIssuer   = "Rihla"
	qrCodePixels = 240
)

// NewSecondFactor is a secret for an authenticator app, in three forms.
type NewSecondFactor struct {
	Secret string // base32, to be typed
	URI    string // otpauth://
	QRCode string // of the URI: a PNG as a data: address
}

// NewTOTP makes the secret of an account's second factor; the account's name is for the app to show.
func NewTOTP(account string) (NewSecondFactor, error) {
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: totpIssuer, AccountName: account, Period: totpPeriod, SecretSize: totpSecret, Digits: totpDigits, Algorithm: otp.AlgorithmSHA1,
	})
	if err != nil {
		return NewSecondFactor{}, fmt.Errorf("make second factor: %w", err)
	}

	picture, err := key.Image(qrCodePixels, qrCodePixels)
	if err != nil {
		return NewSecondFactor{}, fmt.Errorf("draw second factor: %w", err)
	}

	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		return NewSecondFactor{}, fmt.Errorf("draw second factor: %w", err)
	}

	return NewSecondFactor{
		Secret: key.Secret(), URI: key.URL(), QRCode: "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes()),
	}, nil
}

// TOTPStep is the time step that a code of the secret belongs to, of those around a moment; 0 when it belongs to none.
func TOTPStep(secret, code string, at time.Time) (int64, error) {
	code = models.CleanCode(code)
	now := at.Unix() / totpPeriod
	found := int64(0)

	for step := now - totpSkew; step <= now+totpSkew; step++ {
		want, err := totp.GenerateCodeCustom(secret, time.Unix(step*totpPeriod, 0), totp.ValidateOpts{
			Period: totpPeriod, Digits: totpDigits, Algorithm: otp.AlgorithmSHA1,
		})
		if err != nil {
			return 0, fmt.Errorf("compute code: %w", err)
		}

		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			found = step
		}
	}

	return found, nil
}

const (
	recoveryCodes     = 10
	recoveryCodeBytes = 10 // 80 bits: nothing to guess, so that a plain SHA-256 is enough to store
	recoveryGroup     = 4
)

var recoveryAlphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding) // Crockford's

// NewRecoveryCodes makes codes for an owner who has lost the authenticator, each good once, and the hashes to store.
func NewRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		b := make([]byte, recoveryCodeBytes)
		_, _ = rand.Read(b) // never fails: the runtime stops the process instead

		text := recoveryAlphabet.EncodeToString(b)

		var groups []string
		for ; len(text) > 0; text = text[recoveryGroup:] {
			groups = append(groups, text[:recoveryGroup])
		}

		code := strings.Join(groups, "-")
		codes, hashes = append(codes, code), append(hashes, HashRecoveryCode(code))
	}

	return codes, hashes
}

// HashRecoveryCode is what is stored of a recovery code, however its owner writes it.
func HashRecoveryCode(code string) []byte {
	plain := strings.NewReplacer("O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(models.CleanCode(code)))
	sum := sha256.Sum256([]byte(plain))

	return sum[:]
}
