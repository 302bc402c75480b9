package api

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var source []byte

// Document is the OpenAPI document as requests are checked against it.
func Document() (*openapi3.T, error) { return documentOf(source) }

func documentOf(source []byte) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(source)
	if err != nil {
		return nil, fmt.Errorf("load openapi.yaml: %w", err)
	}

	if err = doc.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}

	return doc, nil
}

// ServedDocument is the document as JSON, as /openapi.json serves it and `rihla openapi` prints it: fields in the order
// in which they were written, publicURL as its server (empty: the server that serves it), and at each operation, in
// words, who may call it and which limit applies.
func ServedDocument(publicURL string) ([]byte, error) { return servedDocument(source, publicURL) }

func servedDocument(source []byte, publicURL string) ([]byte, error) {
	var tree yaml.Node
	if err := yaml.Unmarshal(source, &tree); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}

	if publicURL != "" {
		setServer(&tree, publicURL)
	}

	var out bytes.Buffer
	if err := (&jsonWriter{out: &out}).write(&tree); err != nil {
		return nil, fmt.Errorf("openapi.yaml as JSON: %w", err)
	}

	return out.Bytes(), nil
}

// setServer makes publicURL the address of the document's first server.
func setServer(tree *yaml.Node, publicURL string) {
	servers := lookup(tree.Content[0], "servers")
	if servers == nil || len(servers.Content) == 0 {
		return
	}

	if url := lookup(servers.Content[0], "url"); url != nil {
		url.Value = publicURL
	}
}

func lookup(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}

	return nil
}

// jsonWriter writes a YAML tree as JSON in its own order, which a decode into maps would lose.
type jsonWriter struct {
	out *bytes.Buffer
}

func (w *jsonWriter) write(n *yaml.Node) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return w.write(n.Content[0])
	case yaml.AliasNode:
		return w.write(n.Alias)
	case yaml.MappingNode:
		return w.object(n)
	case yaml.SequenceNode:
		w.out.WriteByte('[')

		for i, item := range n.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}

			if err := w.write(item); err != nil {
				return err
			}
		}

		w.out.WriteByte(']')

		return nil
	case yaml.ScalarNode:
		return w.scalar(n)
	default:
		return fmt.Errorf("line %d: unknown kind of node", n.Line)
	}
}

func (w *jsonWriter) object(n *yaml.Node) error {
	members, err := flatten(n)
	if err != nil {
		return err
	}

	// The Go types are for our own generator and would make another one import our packages.
	members = slices.DeleteFunc(members, func(m member) bool { return strings.HasPrefix(m.name, "x-go-") })

	w.out.WriteByte('{')

	for i, m := range members {
		if i > 0 {
			w.out.WriteByte(',')
		}

		w.text(m.name)
		w.out.WriteByte(':')

		if words := access(members); m.name == "description" && words != "" {
			w.text(strings.TrimSpace(m.value.Value) + "\n\n" + words)

			continue
		}

		if err = w.write(m.value); err != nil {
			return err
		}
	}

	w.out.WriteByte('}')

	return nil
}

type member struct {
	name  string
	value *yaml.Node
}

// flatten resolves merge keys; a member of the mapping itself wins over a merged one.
func flatten(n *yaml.Node) ([]member, error) {
	var members []member

	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]

		if key.Tag != "!!merge" {
			members = append(members, member{name: key.Value, value: value})

			continue
		}

		if value.Kind != yaml.AliasNode || value.Alias.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("line %d: only one mapping can be merged", key.Line)
		}

		merged, err := flatten(value.Alias)
		if err != nil {
			return nil, err
		}

		for _, m := range merged {
			if lookup(n, m.name) == nil {
				members = append(members, m)
			}
		}
	}

	return members, nil
}

func (w *jsonWriter) scalar(n *yaml.Node) error {
	switch n.Tag {
	case "!!int", "!!float", "!!bool", "!!null":
		var value any
		if err := n.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}

		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}

		// 1150.00 stays 1150.00: the examples show money as the service writes it.
		if _, err = strconv.ParseFloat(n.Value, 64); err == nil && n.Tag == "!!float" && json.Valid([]byte(n.Value)) {
			text = []byte(n.Value)
		}

		w.out.Write(text)

		return nil
	case "!!str", "!!timestamp":
		w.text(n.Value)

		return nil
	default:
		return errors.New("tag " + n.Tag + " is not JSON")
	}
}

func (w *jsonWriter) text(s string) {
	text, _ := json.Marshal(s) //nolint:errchkjson // a string always has a JSON form

	w.out.Write(text)
}

// access is what an operation's x-roles, x-limit and x-admission say, in words; empty for what is not an operation.
func access(members []member) string {
	var roles []string

	limit, admission := "", ""

	for _, m := range members {
		switch m.name {
		case "x-roles":
			for _, r := range m.value.Content {
				roles = append(roles, r.Value)
			}
		case "x-limit":
			limit = m.value.Value
		case "x-admission":
			admission = m.value.Value
		}
	}

	if len(roles) == 0 {
		return ""
	}

	words := "**Roles:** `" + strings.Join(roles, "`, `") + "`."
	if limit != "none" {
		words += " **Rate limit:** " + limit + "."
	}

	if admission != "" {
		words += " **Admission:** " + admission + "."
	}

	return words
}
