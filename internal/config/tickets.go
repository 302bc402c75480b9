package config

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
)

// Tickets is what tickets are signed with (rules: tickets.signature).
type Tickets struct {
	// SigningKeys is PEM text with Ed25519 private keys, or comma-separated paths of such files. The first signs; API and worker need the
	// same. Unset in development: DevTicketKey.
	SigningKeys Secret `env:"TICKET_SIGNING_KEYS" secret:"pem"`
}

// devTicketSeed are the 32 bytes of the key that development signs tickets with.
const devTicketSeed = devMark + "-ticket-key-development"

// DevTicketKey is the signing key of tickets that development uses when none is set; refused in production.
func DevTicketKey() Secret {
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed([]byte(devTicketSeed)))
	if err != nil {
		panic(err) // an Ed25519 key is always one that can be encoded
	}

	return Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// checkTickets says what is missing for signing tickets and their links.
func (c Config) checkTickets(p *problems) {
	if !c.Tickets.SigningKeys.IsSet() {
		p.addf("TICKET_SIGNING_KEYS is missing (an Ed25519 private key as PEM text, or the path of its file, the same for API and worker)")
	}
}
