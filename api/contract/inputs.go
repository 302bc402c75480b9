package contract

import (
	"github.com/getkin/kin-openapi/openapi3"

	"rihla/models"
)

// An Input is what a text of a request is: how it is brought into the form in which it is checked and kept (rules: input.words).
type Input string

// The inputs that there are.
const (
	InputText      Input = "text"      // one line
	InputLines     Input = "lines"     // several
	InputSearch    Input = "search"    // folded by what is searched in, too
	InputEmail     Input = "email"     //
	InputPhone     Input = "phone"     //
	InputDocument  Input = "document"  // the number of a passport or an identity card
	InputReference Input = "reference" // of a bank, a plate, a license
	InputCode      Input = "code"      // one-time and recovery codes
	InputAmount    Input = "amount"    // as text; in JSON amounts are numbers
	InputDigits    Input = "digits"    // integers, days and moments that are parameters or texts
	InputExact     Input = "exact"     // tokens of links, ids, addresses of pages: what is pasted
	InputSecret    Input = "secret"    // passwords: every character counts
	InputChosen    Input = "chosen"    // one of a list
	InputMachine   Input = "machine"   // written by programs only, or signed
	InputNumber    Input = "number"    // JSON numbers and booleans, which are no texts
)

// cleaned are the forms that texts are brought into. What is not here stays as it is.
var cleaned = map[Input]func(string) string{
	InputText: models.CleanText, InputLines: models.CleanLines, InputSearch: models.CleanText, InputEmail: models.CleanExact,
	InputPhone: models.CleanPhone, InputDocument: models.CleanNumber, InputReference: models.CleanReference, InputCode: models.CleanCode,
	InputAmount: models.CleanAmount, InputDigits: models.CleanReference, InputExact: models.CleanExact,
}

// Clean brings a text into the form in which it is checked and kept.
func (in Input) Clean(text string) string {
	if to := cleaned[in]; to != nil {
		return to(text)
	}

	return text
}

// properties are the texts of bodies by their names, where neither x-input, format nor enum of the document says what they are.
var properties = map[string]Input{
	"name": InputText, "title": InputText, "model": InputText, "city": InputText, "origin": InputText, "destination": InputText,
	"features": InputText, "amenities": InputText,
	"address": InputLines, "description": InputLines, "note": InputLines, "reason": InputLines,
	"phone": InputPhone, "document_number": InputDocument, "plate_number": InputReference, "license_number": InputReference,
	"payout_reference": InputReference, "code": InputCode,
	"token": InputExact, "mfa_token": InputExact, "refresh_token": InputExact, "return_to": InputMachine,
}

// parameters are the texts of query parameters and headers by their names, in the same way.
var parameters = map[string]Input{
	"search": InputSearch, "city": InputText, "origin": InputText, "destination": InputText, "reference": InputReference,
	"amount": InputAmount, "passenger_ids": InputMachine,
	"sort": InputMachine, "cursor": InputMachine, "action": InputMachine, "entity": InputMachine, "return_to": InputMachine,
	"code": InputMachine, "state": InputMachine, "error": InputMachine, "expires": InputMachine, "signature": InputMachine, "id": InputMachine,
	"If-None-Match": InputMachine, IdempotencyHeader: InputMachine,
	"webhook-id": InputMachine, "webhook-timestamp": InputMachine, "webhook-signature": InputMachine,
}

// formats are the texts that their format tells.
var formats = map[string]Input{
	"email": InputEmail, "password": InputSecret, "date": InputDigits, "date-time": InputDigits, formatUUID: InputExact, "uri": InputExact,
	"binary": InputMachine,
}

// InputOf says what a property of a body, or an element of a list of that name, is; "" for a name that is not listed.
func InputOf(name string, schema *openapi3.Schema) Input { return inputOf(properties, name, schema) }

// ParameterOf is InputOf for a query parameter or a header.
func ParameterOf(name string, schema *openapi3.Schema) Input {
	if schema.Type.Is("integer") {
		return InputDigits
	}

	return inputOf(parameters, name, schema)
}

func inputOf(names map[string]Input, name string, schema *openapi3.Schema) Input {
	schema = whole(schema)

	if said, ok := schema.Extensions["x-input"].(string); ok {
		return Input(said)
	}

	switch known, named := names[name]; {
	case !schema.Type.Is("string"):
		return InputNumber
	case len(schema.Enum) > 0:
		return InputChosen
	case named && formats[schema.Format] == "" || known == InputMachine:
		return known
	default:
		return formats[schema.Format]
	}
}

// whole is the part of a schema that says its type.
func whole(schema *openapi3.Schema) *openapi3.Schema {
	for schema.Type == nil && len(schema.AllOf) > 0 {
		schema = schema.AllOf[0].Value
	}

	return schema
}
