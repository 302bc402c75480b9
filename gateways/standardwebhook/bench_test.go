package standardwebhook_test

import "testing"

// BenchmarkVerify is what a webhook costs before anything is stored: its signature, and the event in it.
func BenchmarkVerify(b *testing.B) {
	v, content := verifier(b, secretNew), []byte(body(nil))
	h := signed(b, "evt_1", now, string(content), secretNew)

	b.SetBytes(int64(len(content)))
	b.ReportAllocs()

	for b.Loop() {
		if _, err := v.Verify(h, content, now); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefuse is what a forged webhook costs.
func BenchmarkRefuse(b *testing.B) {
	v, content := verifier(b, secretNew), []byte(body(nil))
	h := signed(b, "evt_1", now, string(content), secretOther)
	b.ReportAllocs()

	for b.Loop() {
		if _, err := v.Verify(h, content, now); err == nil {
			b.Fatal("a forged signature was taken for a good one")
		}
	}
}
