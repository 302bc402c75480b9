package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// People is what an operation's answer has of people.
type People int

// What there is in an answer: no people that count, one, or a list.
const (
	NoPeople People = iota
	OnePerson
	ListOfPeople
)

// xPeople marks a schema of people. An operation that shows its caller's own rows alone says `own`.
const xPeople, ownPeople = "x-people", "own"

// compilePeople finds out by the schemas of its answers whether an operation shows people, so that no new one can be forgotten.
func (o *Operation) compilePeople(source *openapi3.Operation) error {
	own := source.Extensions[xPeople]
	if own != nil && own != ownPeople {
		return fmt.Errorf("x-people %v of an operation is not own", own)
	}

	found := NoPeople

	for status, answer := range source.Responses.Map() {
		if !strings.HasPrefix(status, "2") || answer.Value == nil {
			continue
		}

		for _, content := range answer.Value.Content {
			found = max(found, peopleOf(content.Schema))
		}
	}

	switch {
	case own != nil && found == NoPeople:
		return errors.New("x-people: own is for an answer with people")
	case own != nil:
		return nil
	case found != NoPeople && o.Public:
		return errors.New("an operation without a caller shows people, whose reading cannot be counted")
	}

	o.People = found

	return nil
}

// peopleOf is what an answer has of people: a list when they are in elements of its data.
func peopleOf(answer *openapi3.SchemaRef) People {
	switch {
	case answer == nil || !showsPeople(answer, nil):
		return NoPeople
	case answer.Value.Properties["data"] != nil && answer.Value.Properties["data"].Value.Type.Is("array"):
		return ListOfPeople
	default:
		return OnePerson
	}
}

// showsPeople reports whether a schema is one of people, or has one in it; above are the schemas that it is in.
func showsPeople(ref *openapi3.SchemaRef, above []*openapi3.Schema) bool {
	if ref == nil || ref.Value == nil || slices.Contains(above, ref.Value) {
		return false
	}

	s := ref.Value
	if marked, _ := s.Extensions[xPeople].(bool); marked {
		return true
	}

	above = append(slices.Clip(above), s)
	inner := slices.Concat(openapi3.SchemaRefs{s.Items, s.AdditionalProperties.Schema}, s.AllOf, s.OneOf, s.AnyOf)

	for _, p := range s.Properties {
		inner = append(inner, p)
	}

	return slices.ContainsFunc(inner, func(in *openapi3.SchemaRef) bool { return showsPeople(in, above) })
}
