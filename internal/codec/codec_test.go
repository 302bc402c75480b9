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

func TestPlainPayloadsStay(t *testing.T) {
	t.Parallel()
	c := newCodec(t, key(t, "k1"))
	sealed := encoded(t, c, plain("new"))

	opened, err := c.Decode([]*commonpb.Payload{plain("old"), sealed[0], {}})
	require.NoError(t, err)
	require.Equal(t, "old", string(opened[0].GetData()))
	require.Equal(t, "new", string(opened[1].GetData()))
	require.True(t, proto.Equal(&commonpb.Payload{}, opened[2]))
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
	require.PanicsWithError(t, err.Error(), func() { _, _ = after.Insisting().Decode(old) })

	opened, err = after.Insisting().Decode(young)
	require.NoError(t, err)
	require.Equal(t, "young", string(opened[0].GetData()))
}

// Without keys, and with `plain` in front of them, everything is written in plain text. What is encrypted is still known.
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
		require.Panics(t, func() { _, _ = c.Insisting().Decode(sealed) }, name)
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

	cause := temporal.NewNonRetryableApplicationError("payment 42 is gone", "NOT_FOUND", nil, "a detail")
	failure := o.FailureConverter.ErrorToFailure(cause)
	require.Equal(t, "Encoded failure", failure.GetMessage())
	require.NotContains(t, failure.String(), "42")
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
		"plain behind a key": "plain", "plain with a secret": "plain:" + secret,
		"not base64": "k1:!" + secret, "31 bytes": "k1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 2, 3, 4}, 8)[:31]),
		"weak": "k1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 2, 3, 4}, 8)),
	} {
		_, err := codec.ParseKeys([]string{good, text})
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), secret[:8], name)
	}

	_, err = codec.ParseKeys([]string{good, good})
	require.ErrorContains(t, err, "2026-11 twice")

	for _, id := range []string{"", "not:an:id", "plain", "ك", strings.Repeat("k", 65)} {
		_, err = codec.NewKey(id)
		require.Error(t, err, id)
	}
}

// FuzzDecode: whatever a payload says about itself, it is passed on as it is, opened as it was, or refused.
func FuzzDecode(f *testing.F) {
	c := newCodec(f, key(f, "k1"))
	sealed := encoded(f, c, plain("text"))[0]

	f.Add("binary/encrypted", "AES-256-GCM", "k1", sealed.GetData())
	f.Add("binary/encrypted", "AES-256-GCM", "k1", sealed.GetData()[:20])
	f.Add("binary/encrypted", "AES-256-GCM", "k2", sealed.GetData())
	f.Add("binary/encrypted", "", "", []byte{})
	f.Add(converter.MetadataEncodingJSON, "", "", []byte(`{"a":1}`))

	f.Fuzz(func(t *testing.T, encoding, cipher, id string, data []byte) {
		in := &commonpb.Payload{Metadata: map[string][]byte{
			"encoding": []byte(encoding), "encryption-cipher": []byte(cipher), "encryption-key-id": []byte(id),
		}, Data: data}
		before := proto.Clone(in)

		out, err := c.Decode([]*commonpb.Payload{in})
		require.True(t, proto.Equal(before, in), "the argument stays")

		switch {
		case encoding != "binary/encrypted":
			require.NoError(t, err)
			require.Same(t, in, out[0])
		case bytes.Equal(data, sealed.GetData()) && cipher == "AES-256-GCM" && id == "k1":
			require.NoError(t, err)
			require.Equal(t, "text", string(out[0].GetData()))
		default:
			require.Error(t, err)
			require.Nil(t, out)
		}
	})
}
