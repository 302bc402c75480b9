package models

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"
)

// Key names a text in the catalogues, one for each language (models/words): lower_snake words, dotted by subject. TestTexts holds code and
// catalogues to each other.
type Key string

// verbatim is the key of a text that says what it says in every language: an id, a name, or a sentence that was kept without its key.
const verbatim Key = ""

// Text is what is to be said to a person or a developer: a key and the values in it. It is put into words where it is read, in the
// language of its reader, so that a wording can change without anything that was kept.
type Text struct {
	Key  Key
	Args Args
}

// TextOf is the text of a key; args are names and values in turn, as of slog.
func TextOf(key Key, args ...any) Text {
	t := Text{Key: key}
	if len(args) > 0 {
		t.Args = make(Args, len(args)/2)
	}

	for i := 0; i+1 < len(args); i += 2 {
		name, _ := args[i].(string)
		t.Args[name] = argOf(args[i+1])
	}

	return t
}

// Verbatim is a text that has no other words in another language.
func Verbatim(text string) Text { return Text{Key: verbatim, Args: Args{"text": text}} }

// Verbatims are several.
func Verbatims(texts ...string) []Text {
	out := make([]Text, len(texts))
	for i, text := range texts {
		out[i] = Verbatim(text)
	}

	return out
}

// IsZero reports that there is no text.
func (t Text) IsZero() bool { return t.Key == verbatim && len(t.Args) == 0 }

// Equal reports a text that says the same.
func (t Text) Equal(o Text) bool { return t.Key == o.Key && t.String() == o.String() }

// String is the text in the English of the API: codes and amounts as requests have them.
func (t Text) String() string { return t.render(developers) }

// In is the text for a person who reads the language: states by their labels, amounts and dates as people write them.
func (t Text) In(locale Locale) string {
	if locale == LocaleEnglish {
		return t.render(english)
	}

	return t.render(arabic)
}

// reader is whom a text is put into words for.
type reader int

const (
	developers reader = iota
	english
	arabic
)

func (r reader) locale() Locale {
	if r == arabic {
		return LocaleArabic
	}

	return LocaleEnglish
}

// peoplesWords ends the keys of English texts that people read in other words than developers.
const peoplesWords = "_ui"

func (t Text) render(r reader) string {
	if t.Key == verbatim {
		text, _ := t.Args["text"].(string)

		return text
	}

	c := catalogues()[r.locale()]
	id := string(t.Key)

	if r == english && c.has(id+peoplesWords) {
		id += peoplesWords
	}

	words, err := c.localizer.Localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: t.Args.shown(r), TemplateParser: c.parser})
	if err != nil { // a text that a later version has kept
		return string(t.Key)
	}

	return strings.TrimRight(words, " ")
}

// NoteIn is a note to a person who reads the language: said by the service if it has a text, else as it was written.
func NoteIn(locale Locale, note string, text Text) string {
	if text.IsZero() {
		return note
	}

	return text.In(locale)
}

// KeepIn puts the text into the details of an audit entry: in English under the name, and itself beside it, of which PutIntoWords makes
// words.
func (t Text) KeepIn(details map[string]any, name string) {
	if details[name] = t.String(); t.Key != verbatim {
		details[name+keptBeside] = t
	}
}

// keptBeside ends the names of texts in details.
const keptBeside = "_text"

// PutIntoWords replaces the texts in the details of an audit entry by their words in both languages: note_text by note_ar and note_en.
func PutIntoWords(details map[string]any) {
	for name, v := range details {
		inner, ok := v.(map[string]any)
		if !ok {
			continue
		}

		of, kept := strings.CutSuffix(name, keptBeside)
		if !kept {
			PutIntoWords(inner)

			continue
		}

		var text Text

		raw, err := json.Marshal(inner)
		if err != nil || json.Unmarshal(raw, &text) != nil || text.IsZero() {
			continue
		}

		delete(details, name)
		details[of+"_ar"], details[of+"_en"] = text.In(LocaleArabic), text.In(LocaleEnglish)
	}
}

// MarshalJSON writes what Verbatim says as a string.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Key == verbatim {
		text, _ := t.Args["text"].(string)

		return json.Marshal(text)
	}

	return json.Marshal(keptText(t))
}

// UnmarshalJSON also reads a string, which is what older histories and rows have.
func (t *Text) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*t = Verbatim(text)

		return nil
	}

	var kept keptText

	err := json.Unmarshal(b, &kept)
	*t = Text(kept)

	return err
}

// keptText is a text in histories.
type keptText struct {
	Key  Key  `json:"key"`
	Args Args `json:"args,omitempty"`
}

//go:embed words/*.json
var wordFiles embed.FS

// catalogue are the words of one language.
type catalogue struct {
	localizer *i18n.Localizer
	parser    *cachedParser
	keys      map[string]bool
}

func (c *catalogue) has(id string) bool { return c.keys[id] }

// cachedParser parses each text once: its functions are those of one language, as the texts are.
type cachedParser struct{ template.TextParser }

// Cacheable implements template.Parser.
func (*cachedParser) Cacheable() bool { return true }

// catalogues are read when the first text is put into words.
var catalogues = sync.OnceValue(func() map[Locale]*catalogue {
	out := map[Locale]*catalogue{}

	for locale, tag := range map[Locale]language.Tag{LocaleEnglish: language.English, LocaleArabic: language.Arabic} {
		bundle := i18n.NewBundle(tag)

		file, err := bundle.LoadMessageFileFS(wordFiles, "words/"+tag.String()+".json")
		if err != nil {
			panic(fmt.Sprintf("words of %s: %v", tag, err)) // which TestTexts forbids
		}

		c := &catalogue{localizer: i18n.NewLocalizer(bundle, tag.String()), keys: map[string]bool{}}
		for _, m := range file.Messages {
			c.keys[m.ID] = true
		}

		c.parser = &cachedParser{template.TextParser{Option: "missingkey=error", Funcs: map[string]any{"count": c.count, "anyof": anyOf(tag)}}}
		out[locale] = c
	}

	return out
})

// count is a number with its noun in the form that agrees with it (CLDR's plural rules).
func (c *catalogue) count(n shownNumber, unit string) (string, error) {
	return c.localizer.Localize(&i18n.LocalizeConfig{
		MessageID: "unit." + unit, PluralCount: int64(n), TemplateData: map[string]any{"n": n}, TemplateParser: c.parser,
	})
}

// anyOf joins names by "or".
func anyOf(tag language.Tag) func(shownList) string {
	or, comma := " or ", ", "
	if tag == language.Arabic {
		or, comma = " أو ", "، "
	}

	return func(names shownList) string {
		last := len(names.of) - 1
		if last < 1 {
			return strings.Join(names.of, comma)
		}

		return strings.Join(names.of[:last], comma) + or + names.of[last]
	}
}
