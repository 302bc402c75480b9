package hyperpay

import (
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
	"net/http"
)

// widget is a script in the place of the company's: it puts a form into form.paymentWidgets, pays or declines at the simulator, and sends
// the browser to the form's action as the company's does. It reads the checkout's id from its own address, so that its bytes, and with
// them their hash, are always the same.
//
//go:embed widget.js
var widget []byte

// integrity is the hash of the widget, as the answer to the creation of a checkout has it.
var integrity = func() string {
	sum := sha512.Sum384(widget)

	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}()

func serveWidget(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("Access-Control-Allow-Origin", "*") // a browser needs it to check the hash
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(widget) // a client that left cannot be told
}
