// Package codec encrypts what workflows and activities tell each other before it leaves the process, so that the
// orchestrator keeps histories that it cannot read. It also serves the remote codec with which the Temporal UI and
// command line read them.
package codec

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// The metadata of an encrypted payload, under the names that Temporal's own samples and UI use.
const (
	encodingEncrypted = "binary/encrypted"
	cipherName        = "AES-256-GCM"

	metadataCipher   = "encryption-cipher"
	metadataKeyID    = "encryption-key-id"
	metadataWorkflow = "encryption-workflow-id"
)

// The causes of a rejected payload, for callers that tell them apart. The errors around them name key and workflow.
var (
	// ErrMissingKey says that a payload was encrypted with a key that is not configured.
	ErrMissingKey = errors.New("the key is not in TEMPORAL_CODEC_KEYS")
	// ErrNotEncrypted says that a payload is in plain text, and that `plain` is not among the keys.
	ErrNotEncrypted = errors.New("a payload is not encrypted, and `plain` is not in TEMPORAL_CODEC_KEYS")
)

// Codec encrypts payloads with the newest of its keys and decrypts with any of them. A payload in plain text is taken only
// while `plain` is among the keys, so that encryption can be switched on while workflows wait, or when there are no keys.
// Even then an encrypted payload is known when it is seen: the SDK alone would have workflows fail about it.
type Codec struct {
	newest       string // empty: nothing is encrypted
	keys         map[string]cipher.AEAD
	acceptsPlain bool
	panics       bool
	workflowID   string // of the workflow whose payloads these are; empty: not known
}

// New makes a codec of keys as ParseKeys returns them.
func New(keys []Key) (*Codec, error) {
	c := &Codec{keys: map[string]cipher.AEAD{}, acceptsPlain: len(keys) == 0}

	for i, k := range keys {
		if k.isPlain() {
			c.acceptsPlain = true

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

// PanicOnUndecryptable is the codec for a worker: it panics about a payload that it cannot decrypt. To the SDK an error here is
// an answer, and a workflow whose input cannot be read fails for good; a panic fails only the workflow task, or the try of an activity,
// which the orchestrator repeats until there is a worker with the key.
func (c *Codec) PanicOnUndecryptable() *Codec {
	panicking := *c
	panicking.panics = true

	return &panicking
}

// Reader is the codec for those who look at histories: it passes on what is in plain text, search attributes among it, and
// what it decrypts need not belong to the workflow that is looked at.
func (c *Codec) Reader() *Codec {
	reader := *c
	reader.acceptsPlain = true

	return &reader
}

// WithSerializationContext implements converter.PayloadCodecWithSerializationContext: an encrypted payload belongs to one
// workflow, and is refused in the history of another.
func (c *Codec) WithSerializationContext(sc converter.SerializationContext) converter.PayloadCodec {
	bound := *c

	switch of := sc.(type) {
	case converter.WorkflowSerializationContext:
		bound.workflowID = of.WorkflowID
	case converter.ActivitySerializationContext:
		bound.workflowID = of.WorkflowID
	}

	return &bound
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
			Data: c.keys[c.newest].Seal(nil, nil, plain, additionalData(c.newest, c.workflowID)), //nolint:gosec // the nonce is random: Key.aead
		}
		if c.workflowID != "" {
			sealed[i].Metadata[metadataWorkflow] = []byte(c.workflowID)
		}
	}

	return sealed, nil
}

// Decode implements converter.PayloadCodec. Errors: ErrMissingKey, ErrNotEncrypted, and a payload that was changed, or
// taken from another workflow.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	opened := make([]*commonpb.Payload, len(payloads))

	for i, p := range payloads {
		var err error
		if opened[i], err = c.open(p); err == nil {
			continue
		}

		if c.panics {
			panic(err)
		}

		return nil, err
	}

	return opened, nil
}

func (c *Codec) open(p *commonpb.Payload) (*commonpb.Payload, error) {
	m := p.GetMetadata()
	if string(m[converter.MetadataEncoding]) != encodingEncrypted {
		return c.acceptPlain(p)
	}

	id, of := string(m[metadataKeyID]), string(m[metadataWorkflow])

	if name := string(m[metadataCipher]); name != cipherName {
		return nil, fmt.Errorf("codec: a payload is encrypted with %.32q, not with %s", name, cipherName)
	}

	aead, ok := c.keys[id]
	if !ok {
		return nil, fmt.Errorf("codec: a payload is encrypted with key %.64q: %w", id, ErrMissingKey)
	}

	if !c.belongs(of) {
		return nil, fmt.Errorf("codec: a payload of workflow %.128q stands in the history of %.128q", of, c.workflowID)
	}

	plain, err := aead.Open(nil, nil, p.GetData(), additionalData(id, of))
	if err != nil {
		return nil, fmt.Errorf("codec: a payload cannot be decrypted with key %s: it was changed, or another key had that name", id)
	}

	opened := &commonpb.Payload{}
	if err := proto.Unmarshal(plain, opened); err != nil {
		return nil, fmt.Errorf("codec: what key %s decrypts is no payload", id)
	}

	return opened, nil
}

// acceptPlain passes on what is in plain text where that is allowed, and nothing that was encrypted and relabelled.
func (c *Codec) acceptPlain(p *commonpb.Payload) (*commonpb.Payload, error) {
	for _, mark := range []string{metadataCipher, metadataKeyID, metadataWorkflow} {
		if _, has := p.GetMetadata()[mark]; has {
			return nil, fmt.Errorf("codec: a payload says that it is encrypted, and calls itself %.32q", p.GetMetadata()[converter.MetadataEncoding])
		}
	}

	if !c.acceptsPlain {
		return nil, fmt.Errorf("codec: %w", ErrNotEncrypted)
	}

	return p, nil
}

// belongs reports whether a payload that was encrypted for the workflow may be read here. Payloads from before ids were
// bound, or from outside a workflow, name none; the input that a schedule gives to its runs was encrypted for the schedule.
func (c *Codec) belongs(workflowID string) bool {
	if workflowID == "" || c.workflowID == "" || workflowID == c.workflowID {
		return true
	}

	at, isRun := strings.CutPrefix(c.workflowID, workflowID+"-")
	_, err := time.Parse(time.RFC3339, at)

	return isRun && err == nil
}

// additionalData binds what a payload says about itself to its content: the key's id and, unless empty, the workflow's.
// A key's id can hold no separator.
func additionalData(keyID, workflowID string) []byte {
	data := encodingEncrypted + "\x00" + cipherName + "\x00" + keyID
	if workflowID != "" {
		data += "\x00" + workflowID
	}

	return []byte(data)
}
