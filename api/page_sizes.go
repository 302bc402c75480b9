package api

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	perPageRef     = "#/components/parameters/PerPage"
	defaultPageMax = 100 // of the document
)

// withPageSizes is the document with the greatest `per_page` of each module, by the name that its tag has in a variable; one that is
// missing stays as it is written. Requests are checked against it, and it is what /openapi.json serves.
func withPageSizes(document []byte, sizes map[string]int) ([]byte, error) {
	changed := false
	for _, most := range sizes {
		changed = changed || most != defaultPageMax
	}

	if !changed {
		return document, nil
	}

	var tree yaml.Node
	if err := yaml.Unmarshal(document, &tree); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}

	root := tree.Content[0]

	paths := lookup(root, "paths")
	for i := 1; i < len(paths.Content); i += 2 {
		item := paths.Content[i]

		for j := 1; j < len(item.Content); j += 2 {
			if operation := item.Content[j]; operation.Kind == yaml.MappingNode {
				resize(root, operation, sizes)
			}
		}
	}

	return yaml.Marshal(&tree)
}

// resize bounds the pages of one operation, if it is a list of a module with a size of its own.
func resize(root, operation *yaml.Node, sizes map[string]int) {
	tags, parameters := lookup(operation, "tags"), lookup(operation, "parameters")
	if tags == nil || parameters == nil || len(tags.Content) == 0 {
		return
	}

	most, ok := sizes[moduleOf(tags.Content[0].Value)]
	if !ok || most == defaultPageMax {
		return
	}

	for i, p := range parameters.Content {
		if ref := lookup(p, "$ref"); ref == nil || ref.Value != perPageRef {
			continue
		}

		own := cloned(at(root, perPageRef))
		lookup(lookup(own, "schema"), "maximum").Value = strconv.Itoa(most)
		parameters.Content[i] = own

		if bound := itemsOf(root, operation); bound != nil {
			bound.Value = strconv.Itoa(most)
		}
	}
}

// itemsOf is the bound of the items in a list's answer. A schema of an answer belongs to lists of one module.
func itemsOf(root, operation *yaml.Node) *yaml.Node {
	n := operation
	for _, name := range []string{"responses", "200", "content", "application/json", "schema", "$ref"} {
		if n = lookup(n, name); n == nil {
			return nil
		}
	}

	for _, name := range []string{"properties", "data", "maxItems"} {
		if n.Kind == yaml.ScalarNode {
			n = at(root, n.Value)
		}

		if n = lookup(n, name); n == nil {
			return nil
		}
	}

	return n
}

// at is what a reference within the document points at.
func at(root *yaml.Node, ref string) *yaml.Node {
	n := root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		n = lookup(n, name)
	}

	return n
}

func cloned(n *yaml.Node) *yaml.Node {
	out := *n
	out.Anchor = ""

	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = cloned(c)
	}

	return &out
}

// moduleOf is a tag as variables name it: `Rest stops` is REST_STOPS.
func moduleOf(tag string) string { return strings.ToUpper(strings.ReplaceAll(tag, " ", "_")) }
