package models

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Args are the values in a text, by name: int64, string, Money, Date, time.Time, time.Duration, []string, Choice, or another Text.
type Args map[string]any

// Choice is a code of an enum with its labels.
type Choice struct {
	Code  string
	Label Label
}

// InCurrency is a currency beside an amount.
func InCurrency(code string) Choice {
	if code == Currency {
		return Choice{code, Label{AR: "ريال", EN: code}}
	}

	return Choice{code, Label{AR: code, EN: code}}
}

// labelled are enums.
type labelled interface{ Label() Label }

// argOf makes a value one of those that Args keep.
func argOf(v any) any {
	switch v := v.(type) {
	case labelled:
		return Choice{fmt.Sprint(v), v.Label()}
	case int:
		return int64(v)
	case uint64:
		return int64(v) //nolint:gosec // bounds of lengths and counts
	case int64, string, Money, Date, time.Duration, Choice, Text:
		return v
	case time.Time:
		return v.UTC()
	case []string:
		return append([]string{}, v...)
	default:
		return fmt.Sprint(v) // ids, and codes of named types
	}
}

// keptArg is a value of Args in JSON that is neither a number nor a string.
type keptArg struct {
	Money *Money     `json:"money,omitempty"`
	Date  *Date      `json:"date,omitempty"`
	At    *time.Time `json:"at,omitempty"`
	For   string     `json:"for,omitempty"`
	List  []string   `json:"list,omitempty"`
	Code  string     `json:"code,omitempty"`
	AR    string     `json:"ar,omitempty"`
	EN    string     `json:"en,omitempty"`
	Text  *Text      `json:"text,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (a Args) MarshalJSON() ([]byte, error) {
	kept := make(map[string]any, len(a))

	for name, v := range a {
		switch v := v.(type) {
		case Money:
			kept[name] = keptArg{Money: &v}
		case Date:
			kept[name] = keptArg{Date: &v}
		case time.Time:
			kept[name] = keptArg{At: &v}
		case time.Duration:
			kept[name] = keptArg{For: v.String()}
		case []string:
			kept[name] = keptArg{List: v}
		case Choice:
			kept[name] = keptArg{Code: v.Code, AR: v.Label.AR, EN: v.Label.EN}
		case Text:
			kept[name] = keptArg{Text: &v}
		default:
			kept[name] = v
		}
	}

	return json.Marshal(kept)
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Args) UnmarshalJSON(b []byte) error {
	var kept map[string]json.RawMessage
	if err := json.Unmarshal(b, &kept); err != nil {
		return fmt.Errorf("read the arguments of a text: %w", err)
	}

	*a = make(Args, len(kept))

	for name, raw := range kept {
		v, err := readArg(raw)
		if err != nil {
			return fmt.Errorf("read the argument %s of a text: %w", name, err)
		}

		(*a)[name] = v
	}

	return nil
}

func readArg(raw json.RawMessage) (any, error) {
	var (
		n    int64
		text string
		kept keptArg
	)

	if json.Unmarshal(raw, &n) == nil {
		return n, nil
	}

	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}

	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, err
	}

	switch {
	case kept.Money != nil:
		return *kept.Money, nil
	case kept.Date != nil:
		return *kept.Date, nil
	case kept.At != nil:
		return *kept.At, nil
	case kept.For != "":
		return time.ParseDuration(kept.For)
	case kept.Text != nil:
		return *kept.Text, nil
	case kept.Code != "":
		return Choice{kept.Code, Label{AR: kept.AR, EN: kept.EN}}, nil
	default:
		return kept.List, nil
	}
}

// shownNumber and shownList are values that the functions of the catalogues take.
type shownNumber int64

func (n shownNumber) String() string { return strconv.FormatInt(int64(n), 10) }

type shownList struct {
	of    []string
	comma string
}

func (l shownList) String() string { return strings.Join(l.of, l.comma) }

// shown are the values as the reader writes them.
func (a Args) shown(r reader) map[string]any {
	out := make(map[string]any, len(a))
	for name, v := range a {
		out[name] = shownArg(v, r)
	}

	return out
}

func shownArg(v any, r reader) any {
	switch v := v.(type) {
	case int64:
		return shownNumber(v)
	case []string:
		comma := ", "
		if r == arabic {
			comma = "، "
		}

		return shownList{v, comma}
	case Text:
		return v.render(r)
	case Choice:
		if r == developers {
			return v.Code
		}

		return v.Label.In(r.locale())
	case time.Duration:
		return shownDuration(v, r)
	default:
		return shownValue(v, r)
	}
}

// shownValue writes amounts and moments: developers have them as the API does.
func shownValue(v any, r reader) string {
	if r != developers {
		switch v := v.(type) {
		case Money:
			return v.Grouped()
		case Date:
			return v.In(r.locale())
		case time.Time:
			local := v.In(Riyadh)

			return DateIn(v).In(r.locale()) + " " + local.Format("15:04")
		}
	}

	if at, ok := v.(time.Time); ok {
		return at.UTC().Format(time.RFC3339)
	}

	return fmt.Sprint(v)
}

// shownDuration is whole days, hours or minutes.
func shownDuration(d time.Duration, r reader) string {
	if r == developers {
		text := strings.TrimSuffix(d.String(), "0s")
		if d == 0 || !strings.HasSuffix(d.String(), "m0s") {
			text = d.String()
		}

		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}

		return text
	}

	n, unit := int64(d/time.Minute), "minute"
	if d%time.Hour == 0 {
		n, unit = int64(d/time.Hour), "hour"
	}

	words, _ := catalogues()[r.locale()].count(shownNumber(n), unit)

	return words
}
