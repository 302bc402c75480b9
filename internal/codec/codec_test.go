package codec_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"rihla/internal/codec"
)

func key(tb testing.TB, id string) string {
	tb.Helper()

	text, err := codec.NewKey(id)
	require.NoError(tb, err)

	return text
}

func newCodec(tb testing.TB, keys ...string) *codec.Codec {
	tb.Helper()

	parsed, err := codec.ParseKeys(keys)
	require.NoError(tb, err)

	c, err := codec.New(parsed)
	require.NoError(tb, err)

	return c
}

func plain(text string) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain"), "messageType": []byte("x")}, Data: []byte(text)}
}

func encoded(tb testing.TB, c *codec.Codec, payloads ...*commonpb.Payload) []*commonpb.Payload {
	tb.Helper()

	sealed, err := c.Encode(payloads)
	require.NoError(tb, err)
	require.Len(tb, sealed, len(payloads))

	return sealed
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := newCodec(t, key(t, "k1"))

	for _, text := range []string{"", `"a secret id"`, strings.Repeat("م", 100_000)} {
		in := plain(text)
		sealed := encoded(t, c, in, in)

		for _, p := range sealed {
			require.Equal(t, "binary/encrypted", string(p.GetMetadata()["encoding"]))
			require.Equal(t, "AES-256-GCM", string(p.GetMetadata()["encryption-cipher"]))
			require.Equal(t, "k1", string(p.GetMetadata()["encryption-key-id"]))
			require.Len(t, p.GetMetadata(), 3, "what the payload said about itself is encrypted, too")
			require.NotContains(t, string(p.GetData()), "secret")
		}

		require.NotEqual(t, sealed[0].GetData(), sealed[1].GetData(), "a nonce is used once")
		require.Equal(t, text, string(in.GetData()), "the argument stays")

		opened, err := c.Decode(sealed)
		require.NoError(t, err)
		require.True(t, proto.Equal(in, opened[0]))
	}
}

// While encryption is being switched on, older plain payloads are accepted. Afterwards they are refused: write access to
// the orchestrator is not enough to send a worker anything. An empty payload is no message.
func TestPlainPayloadsAreTakenWhilePlainIsListed(t *testing.T) {
	t.Parallel()

	k1 := key(t, "k1")
	both := newCodec(t, k1, "plain")
	sealed := encoded(t, both, plain("new"))
	require.Equal(t, "k1", string(sealed[0].GetMetadata()["encryption-key-id"]), "what is new is encrypted")

	for _, c := range []*codec.Codec{both, newCodec(t, "plain", k1), newCodec(t, k1).Reader()} {
		opened, err := c.Decode([]*commonpb.Payload{plain("old"), sealed[0], {}})
		require.NoError(t, err)
		require.Equal(t, "old", string(opened[0].GetData()))
		require.Equal(t, "new", string(opened[1].GetData()))
		require.True(t, proto.Equal(&commonpb.Payload{}, opened[2]))
	}

	strict := newCodec(t, k1)

	for _, p := range []*commonpb.Payload{plain("old"), {}, {Data: []byte("null")}} {
		_, err := strict.Decode([]*commonpb.Payload{sealed[0], p})
		require.ErrorIs(t, err, codec.ErrNotEncrypted)
		require.PanicsWithError(t, err.Error(), func() { _, _ = strict.PanicOnUndecryptable().Decode([]*commonpb.Payload{p}) })
	}
}

// Something encrypted that calls itself something else would be handed to a workflow as it is.
func TestRelabelledPayloadsAreRefused(t *testing.T) {
	t.Parallel()

	k1 := key(t, "k1")
	writer := newCodec(t, k1)

	for _, c := range []*codec.Codec{writer, newCodec(t), newCodec(t, "plain", k1), newCodec(t, k1, "plain"), writer.Reader()} {
		for _, mark := range []string{"encryption-key-id", "encryption-cipher", "encryption-workflow-id"} {
			sealed := encoded(t, writer, plain("text"))
			sealed[0].Metadata = map[string][]byte{"encoding": []byte("json/plain"), mark: []byte("k1")}

			_, err := c.Decode(sealed)
			require.Error(t, err, mark)
		}
	}
}

func within(c *codec.Codec, workflowID string) converter.PayloadCodec {
	return c.WithSerializationContext(converter.WorkflowSerializationContext{WorkflowID: workflowID})
}

// A payload that was encrypted for one workflow is refused in another one's history, also with its label changed.
func TestPayloadsBelongToTheirWorkflow(t *testing.T) {
	t.Parallel()

	c := newCodec(t, key(t, "k1"))
	seal := func() *commonpb.Payload {
		sealed, err := within(c, "payment/1").Encode([]*commonpb.Payload{plain("text")})
		require.NoError(t, err)

		return sealed[0]
	}
	activity := c.WithSerializationContext(converter.ActivitySerializationContext{WorkflowID: "payment/1", ActivityType: "Settle"})

	// Outside any workflow, as in the UI, what it says about itself counts.
	for _, reader := range []converter.PayloadCodec{c, c.Reader(), c.PanicOnUndecryptable(), within(c, "payment/1"), within(c.PanicOnUndecryptable(), "payment/1"), activity} {
		opened, err := reader.Decode([]*commonpb.Payload{seal()})
		require.NoError(t, err)
		require.Equal(t, "text", string(opened[0].GetData()))
	}

	for _, other := range []string{"payment/2", "payment/1-", "payment/1-x", "payment/1-2026-11-22", "payment"} {
		_, err := within(c, other).Decode([]*commonpb.Payload{seal()})
		require.ErrorContains(t, err, `"payment/1" stands in the history of "`+other, other)
		require.Panics(t, func() { _, _ = within(c.PanicOnUndecryptable(), other).Decode([]*commonpb.Payload{seal()}) })
	}

	for _, label := range []string{"", "payment/2"} {
		moved := seal()
		if moved.Metadata["encryption-workflow-id"] = []byte(label); label == "" {
			delete(moved.GetMetadata(), "encryption-workflow-id")
		}

		_, err := within(c, "payment/2").Decode([]*commonpb.Payload{moved})
		require.ErrorContains(t, err, "cannot be decrypted")
	}

	// A payload from before ids were bound, or of the codec server for the command line.
	opened, err := within(c, "payment/2").Decode(encoded(t, c, plain("old")))
	require.NoError(t, err)
	require.Equal(t, "old", string(opened[0].GetData()))

	// A schedule's payload goes to all its runs.
	opened, err = within(c, "payment/1-2026-11-22T00:30:00Z").Decode([]*commonpb.Payload{seal()})
	require.NoError(t, err)
	require.Equal(t, "text", string(opened[0].GetData()))
}

func TestKeysAreChanged(t *testing.T) {
	t.Parallel()
	k1, k2 := key(t, "k1"), key(t, "k2")
	before, during, after := newCodec(t, k1), newCodec(t, k2, k1), newCodec(t, k2)
	old := encoded(t, before, plain("old"))
	young := encoded(t, during, plain("young"))

	require.Equal(t, "k2", string(young[0].GetMetadata()["encryption-key-id"]))

	opened, err := during.Decode(append(old, young...))
	require.NoError(t, err)
	require.Equal(t, "oldyoung", string(opened[0].GetData())+string(opened[1].GetData()))

	_, err = after.Decode(old)
	require.ErrorIs(t, err, codec.ErrMissingKey)
	require.ErrorContains(t, err, `"k1"`)
	require.PanicsWithError(t, err.Error(), func() { _, _ = after.PanicOnUndecryptable().Decode(old) })

	opened, err = after.PanicOnUndecryptable().Decode(young)
	require.NoError(t, err)
	require.Equal(t, "young", string(opened[0].GetData()))
}

// Without keys, and with `plain` in front of them, everything is written in plain text. Encrypted payloads are still recognized.
func TestPlainInFront(t *testing.T) {
	t.Parallel()
	k1 := key(t, "k1")
	sealed := encoded(t, newCodec(t, k1), plain("text"))
	none, first := newCodec(t), newCodec(t, "plain", k1)

	for _, c := range []*codec.Codec{none, first} {
		var o client.Options

		c.Install(&o)
		require.Equal(t, "open", o.FailureConverter.ErrorToFailure(errors.New("open")).GetMessage())
		require.Equal(t, "text", string(encoded(t, c, plain("text"))[0].GetData()))
	}

	opened, err := first.Decode(sealed)
	require.NoError(t, err)
	require.Equal(t, "text", string(opened[0].GetData()))

	_, err = none.Decode(sealed)
	require.ErrorIs(t, err, codec.ErrMissingKey)
}

func TestChangedPayloadsAreRefused(t *testing.T) {
	t.Parallel()
	c := newCodec(t, key(t, "k1"), key(t, "k2"))

	for name, change := range map[string]func(*commonpb.Payload){
		"first byte":     func(p *commonpb.Payload) { p.GetData()[0] ^= 1 },
		"last byte":      func(p *commonpb.Payload) { p.GetData()[len(p.GetData())-1] ^= 1 },
		"shorter":        func(p *commonpb.Payload) { p.Data = p.GetData()[:len(p.GetData())-1] },
		"empty":          func(p *commonpb.Payload) { p.Data = nil },
		"another key":    func(p *commonpb.Payload) { p.Metadata["encryption-key-id"] = []byte("k2") },
		"another cipher": func(p *commonpb.Payload) { p.Metadata["encryption-cipher"] = []byte("none") },
		"no key":         func(p *commonpb.Payload) { delete(p.GetMetadata(), "encryption-key-id") },
	} {
		sealed := encoded(t, c, plain("text"))
		change(sealed[0])

		_, err := c.Decode(sealed)
		require.Error(t, err, name)
		require.Panics(t, func() { _, _ = c.PanicOnUndecryptable().Decode(sealed) }, name)
	}

	// The name of a key belongs to the text: under the same key by another name it does not open.
	k := key(t, "k1")
	sealed := encoded(t, newCodec(t, k), plain("text"))
	sealed[0].Metadata["encryption-key-id"] = []byte("k9")
	_, err := newCodec(t, "k9"+strings.TrimPrefix(k, "k1")).Decode(sealed)
	require.ErrorContains(t, err, "key k9")
}

func TestErrorsAreEncryptedToo(t *testing.T) {
	t.Parallel()

	var o client.Options

	newCodec(t, key(t, "k1")).Install(&o)

	// As the SDK does, for one workflow.
	of := func(id string) converter.FailureConverter {
		return converter.WithFailureConverterSerializationContext(o.FailureConverter, converter.WorkflowSerializationContext{WorkflowID: id})
	}
	bound := of("payment/1").ErrorToFailure(temporal.NewApplicationError("refused", "REFUSED", "a detail"))
	require.Equal(t, "payment/1", string(bound.GetEncodedAttributes().GetMetadata()["encryption-workflow-id"]))
	require.NotContains(t, of("payment/2").FailureToError(bound).Error(), "refused")
	require.ErrorContains(t, of("payment/1").FailureToError(bound), "refused")

	cause := temporal.NewNonRetryableApplicationError("payment 42 is gone", "NOT_FOUND", nil, "a detail")
	failure := o.FailureConverter.ErrorToFailure(cause)
	require.Equal(t, "Encoded failure", failure.GetMessage())
	require.NotContains(t, failure.String(), "is gone") // long enough not to be in random bytes by chance
	require.NotContains(t, failure.String(), "a detail")

	back, ok := errors.AsType[*temporal.ApplicationError](o.FailureConverter.FailureToError(failure))
	require.True(t, ok)
	require.Equal(t, "payment 42 is gone", back.Message())
	require.Equal(t, "NOT_FOUND", back.Type())
	require.True(t, back.NonRetryable())

	var detail string

	require.NoError(t, back.Details(&detail))
	require.Equal(t, "a detail", detail)
}

func TestParseKeys(t *testing.T) {
	t.Parallel()

	good := key(t, "2026-11")
	_, secret, _ := strings.Cut(good, ":")

	keys, err := codec.ParseKeys([]string{good, key(t, "old")})
	require.NoError(t, err)
	require.Equal(t, "2026-11", keys[0].ID)

	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		require.Equal(t, "2026-11", fmt.Sprintf(verb, keys[0]))
	}

	for name, text := range map[string]string{
		"no id": ":" + secret, "no colon": secret, "no secret": "k1:", "an id with a space": "k 1:" + secret,
		"plain with a secret": "plain:" + secret,
		"not base64":          "k1:!" + secret, "31 bytes": "k1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 2, 3, 4}, 8)[:31]),
		"weak": "k1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 2, 3, 4}, 8)),
	} {
		_, err := codec.ParseKeys([]string{good, text})
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), secret[:8], name)
	}

	_, err = codec.ParseKeys([]string{good, good})
	require.ErrorContains(t, err, "2026-11 twice")

	for _, texts := range [][]string{{good, "plain", key(t, "old")}, {"plain", good, "plain"}, {"plain", "plain"}} {
		_, err = codec.ParseKeys(texts)
		require.Error(t, err, len(texts))
	}

	for _, id := range []string{"", "not:an:id", "plain", "ك", strings.Repeat("k", 65)} {
		_, err = codec.NewKey(id)
		require.Error(t, err, id)
	}
}

// FuzzDecode: whatever a payload says about itself, it is opened as it was where it belongs, or refused. While `plain` is
// listed, what says nothing of encryption is passed on as it is.
func FuzzDecode(f *testing.F) {
	k1 := key(f, "k1")
	strict, lenient := newCodec(f, k1), newCodec(f, k1, "plain")
	sealed, err := within(strict, "payment/1").Encode([]*commonpb.Payload{plain("text")})
	require.NoError(f, err)

	data := sealed[0].GetData()
	f.Add("binary/encrypted", "AES-256-GCM", "k1", "payment/1", data)
	f.Add("binary/encrypted", "AES-256-GCM", "k1", "payment/2", data)
	f.Add("binary/encrypted", "AES-256-GCM", "k1", "payment/1", data[:20])
	f.Add("binary/encrypted", "AES-256-GCM", "k2", "", data)
	f.Add("binary/encrypted", "", "", "", []byte{})
	f.Add(converter.MetadataEncodingJSON, "", "", "", []byte(`{"a":1}`))

	f.Fuzz(func(t *testing.T, encoding, cipher, id, workflowID string, data []byte) {
		in := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(encoding)}, Data: data}

		for mark, value := range map[string]string{"encryption-cipher": cipher, "encryption-key-id": id, "encryption-workflow-id": workflowID} {
			if value != "" {
				in.Metadata[mark] = []byte(value)
			}
		}

		before := proto.Clone(in)
		genuine := proto.Equal(in, sealed[0])

		out, err := within(strict, "payment/1").Decode([]*commonpb.Payload{in})
		require.Equal(t, genuine, err == nil)
		require.True(t, proto.Equal(before, in), "the argument stays")

		if genuine {
			require.Equal(t, "text", string(out[0].GetData()))

			_, err = within(strict, "payment/2").Decode([]*commonpb.Payload{in})
			require.Error(t, err)
		}

		out, err = lenient.Decode([]*commonpb.Payload{in})

		switch {
		case encoding != "binary/encrypted" && cipher+id+workflowID == "":
			require.NoError(t, err)
			require.Same(t, in, out[0])
		case !genuine:
			require.Error(t, err)
			require.Nil(t, out)
		}
	})
}
