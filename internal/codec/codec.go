// Package codec encrypts what workflows and activities tell each other before it leaves the process, so that the
// orchestrator keeps histories that it cannot read. It also serves the remote codec with which the Temporal UI and
// command line read them.
package codec

import (
	"crypto/cipher"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// What an encrypted payload says about itself, in the names that Temporal's own samples and UI use.
const (
	encodingEncrypted = "binary/encrypted"
	cipherName        = "AES-256-GCM"

	metadataCipher = "encryption-cipher"
	metadataKeyID  = "encryption-key-id"
)

// ErrMissingKey says that a payload was encrypted with a key that is not configured; the error around it names the key.
var ErrMissingKey = errors.New("the key is not in TEMPORAL_CODEC_KEYS")

// Codec encrypts payloads with the newest of its keys and decrypts with any of them. A payload that is not encrypted is
// returned as it is, so that encryption can be switched on while workflows wait. Without keys it encrypts nothing, but
// still knows an encrypted payload when it sees one: the SDK alone would have workflows fail about it.
type Codec struct {
	newest string // empty: nothing is encrypted
	keys   map[string]cipher.AEAD
	insist bool
}

// New makes a codec of keys as ParseKeys returns them.
func New(keys []Key) (*Codec, error) {
	c := &Codec{keys: map[string]cipher.AEAD{}}

	for i, k := range keys {
		if k.isPlain() {
			continue
		}

		if i == 0 {
			c.newest = k.ID
		}

		aead, err := k.aead()
		if err != nil {
			return nil, err
		}

		c.keys[k.ID] = aead
	}

	return c, nil
}

// Insisting is the codec for a worker: what it cannot decrypt, it panics about. To the SDK an error here is an answer, and
// a workflow whose input cannot be read fails for good; a panic fails only the workflow task, or the try of an activity,
// which the orchestrator repeats until there is a worker with the key.
func (c *Codec) Insisting() *Codec {
	insisting := *c
	insisting.insist = true

	return &insisting
}

// Encode implements converter.PayloadCodec. The whole payload is encrypted, what it says about itself included.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c.newest == "" {
		return payloads, nil
	}

	sealed := make([]*commonpb.Payload, len(payloads))

	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("codec: %w", err)
		}

		sealed[i] = &commonpb.Payload{
			Metadata: map[string][]byte{
				converter.MetadataEncoding: []byte(encodingEncrypted), metadataCipher: []byte(cipherName),
				metadataKeyID: []byte(c.newest),
			},
			Data: c.keys[c.newest].Seal(nil, nil, plain, additionalData(c.newest)), //nolint:gosec // the nonce is random: Key.aead
		}
	}

	return sealed, nil
}

// Decode implements converter.PayloadCodec. Errors: ErrMissingKey, and a payload that somebody has changed.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	opened := make([]*commonpb.Payload, len(payloads))

	for i, p := range payloads {
		var err error
		if opened[i], err = c.open(p); err == nil {
			continue
		}

		if c.insist {
			panic(err)
		}

		return nil, err
	}

	return opened, nil
}

func (c *Codec) open(p *commonpb.Payload) (*commonpb.Payload, error) {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != encodingEncrypted {
		return p, nil
	}

	id := string(p.GetMetadata()[metadataKeyID])

	if name := string(p.GetMetadata()[metadataCipher]); name != cipherName {
		return nil, fmt.Errorf("codec: a payload is encrypted with %.32q, not with %s", name, cipherName)
	}

	aead, ok := c.keys[id]
	if !ok {
		return nil, fmt.Errorf("codec: a payload is encrypted with key %.64q: %w", id, ErrMissingKey)
	}

	plain, err := aead.Open(nil, nil, p.GetData(), additionalData(id))
	if err != nil {
		return nil, fmt.Errorf("codec: a payload cannot be decrypted with key %s: it was changed, or another key had that name", id)
	}

	opened := &commonpb.Payload{}
	if err := proto.Unmarshal(plain, opened); err != nil {
		return nil, fmt.Errorf("codec: what key %s decrypts is no payload", id)
	}

	return opened, nil
}

// additionalData binds what a payload says about itself to its content. No part can hold the separator.
func additionalData(keyID string) []byte {
	return []byte(encodingEncrypted + "\x00" + cipherName + "\x00" + keyID)
}
