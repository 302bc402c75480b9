package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// compare finds what has changed from the released document to the one after it. Descriptions, summaries, tags and
// examples are words: a change of them is none for a program.
func compare(before, after *openapi3.T) []change {
	c := &changes{seen: map[schemaPair]bool{}}

	c.compareSecuritySchemes(before, after)

	for _, path := range union(before.Paths.Map(), after.Paths.Map()) {
		old, current := before.Paths.Value(path), after.Paths.Value(path)

		if current == nil {
			c.breakf(path, "the path is gone")
		} else {
			c.comparePath(path, document{before, old}, document{after, current})
		}
	}

	return c.sorted()
}

// document is a path of a document; it holds the defaults of the path's operations.
type document struct {
	doc  *openapi3.T
	item *openapi3.PathItem
}

func (d document) operations() map[string]*openapi3.Operation {
	if d.item == nil {
		return nil
	}

	return d.item.Operations()
}

// servers are the addresses that the operation's path is appended to; without any it is the root (OpenAPI 3.0.3).
func (d document) servers(op *openapi3.Operation) []string {
	list := d.doc.Servers

	switch {
	case op.Servers != nil && len(*op.Servers) > 0:
		list = *op.Servers
	case len(d.item.Servers) > 0:
		list = d.item.Servers
	}

	if len(list) == 0 {
		return []string{"/"}
	}

	urls := make([]string, len(list))
	for i, server := range list {
		urls[i] = server.URL
	}

	return urls
}

// compareServers finds addresses at which the operation is no longer served.
func (c *changes) compareServers(where string, olds, currents []string) {
	for _, url := range without(olds, currents) {
		c.breakf(where, "it is no longer served at %s", url)
	}

	for _, url := range without(currents, olds) {
		c.addf(where, "it is served at %s", url)
	}
}

func (c *changes) comparePath(path string, before, after document) {
	olds, currents := before.operations(), after.operations()

	for _, method := range union(olds, currents) {
		where := method + " " + path
		old, current := olds[method], currents[method]

		switch {
		case old == nil:
			c.addf(where, "a new operation")
		case current == nil:
			c.breakf(where, "the operation is gone")
		default:
			c.compareOperation(where, before, after, old, current)
		}
	}
}

func (c *changes) compareOperation(where string, before, after document, old, current *openapi3.Operation) {
	if old.OperationID != current.OperationID {
		c.breakf(where, "operationId %s was %s: generated clients call it by that name", current.OperationID, old.OperationID)
	}

	c.compareServers(where, before.servers(old), after.servers(current))
	c.compareRoles(where, old, current)
	c.compareSecurity(where, security(before.doc, old), security(after.doc, current))
	c.compareParameters(where, parameters(before.item, old), parameters(after.item, current))
	c.compareBody(where, old.RequestBody, current.RequestBody)
	c.compareResponses(where, old, current)
}

// parameters are those of the operation with those of its path that it does not replace, by place and name.
func parameters(item *openapi3.PathItem, op *openapi3.Operation) map[string]*openapi3.Parameter {
	all := map[string]*openapi3.Parameter{}

	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		name := ref.Value.Name
		if ref.Value.In == openapi3.ParameterInHeader {
			name = strings.ToLower(name)
		}

		all[ref.Value.In+" parameter "+name] = ref.Value
	}

	return all
}

func (c *changes) compareParameters(where string, olds, currents map[string]*openapi3.Parameter) {
	for _, name := range union(olds, currents) {
		old, current := olds[name], currents[name]

		switch {
		case old == nil && current.Required:
			c.breakf(where, "new required %s", name)
		case old == nil:
			c.addf(where, "new optional %s", name)
		case current == nil:
			c.breakf(where, "%s is gone", name)
		default:
			c.compareParameter(where+" "+name, old, current)
		}
	}
}

func (c *changes) compareParameter(where string, old, current *openapi3.Parameter) {
	switch {
	case current.Required && !old.Required:
		c.breakf(where, "it has become required")
	case old.Required && !current.Required:
		c.addf(where, "it has become optional")
	}

	before, errBefore := old.SerializationMethod()
	after, errAfter := current.SerializationMethod()

	if errBefore != nil || errAfter != nil || *before != *after {
		c.breakf(where, "it is written in another way (style, explode)")
	}

	c.compareSchema(where, request, old.Schema, current.Schema)
	c.compareContent(where, request, old.Content, current.Content)
}

func (c *changes) compareBody(where string, old, current *openapi3.RequestBodyRef) {
	switch {
	case old == nil && current == nil:
	case old == nil && current.Value.Required:
		c.breakf(where, "it takes a body, which is required")
	case old == nil:
		c.addf(where, "it takes a body")
	case current == nil:
		c.breakf(where, "it takes no body any more")
	default:
		switch {
		case current.Value.Required && !old.Value.Required:
			c.breakf(where, "the body has become required")
		case old.Value.Required && !current.Value.Required:
			c.addf(where, "the body has become optional")
		}

		c.compareContent(where+" body", request, old.Value.Content, current.Value.Content)
	}
}

func (c *changes) compareResponses(where string, old, current *openapi3.Operation) {
	olds, currents := old.Responses.Map(), current.Responses.Map()

	for _, status := range union(olds, currents) {
		before, after := olds[status], currents[status]

		switch {
		case before == nil:
			c.addf(where, "it may answer %s", status)
		case after == nil:
			c.breakf(where, "the answer %s is gone", status)
		default:
			c.compareHeaders(where+" "+status, before.Value.Headers, after.Value.Headers)
			c.compareContent(where+" "+status, response, before.Value.Content, after.Value.Content)
		}
	}
}

func (c *changes) compareHeaders(where string, olds, currents openapi3.Headers) {
	for _, name := range union(olds, currents) {
		old, current := olds[name], currents[name]

		switch {
		case old == nil:
			c.addf(where, "new header %s", name)
		case current == nil:
			c.breakf(where, "the header %s is gone", name)
		default:
			c.compareHeader(where+" header "+name, old.Value, current.Value)
		}
	}
}

func (c *changes) compareHeader(where string, old, current *openapi3.Header) {
	switch {
	case old.Required && !current.Required:
		c.breakf(where, "it is no longer always there")
	case current.Required && !old.Required:
		c.addf(where, "it is always there")
	}

	c.compareSchema(where, response, old.Schema, current.Schema)
}

func (c *changes) compareContent(where string, way direction, olds, currents openapi3.Content) {
	if len(olds) == 0 && len(currents) > 0 && way == response {
		c.breakf(where, "it has a body now, and had none")

		return
	}

	for _, media := range union(olds, currents) {
		old, current := olds[media], currents[media]
		in := where

		if len(olds) > 1 {
			in += " (" + media + ")"
		}

		switch {
		case old == nil:
			c.addf(where, "new content type %s", media)
		case current == nil:
			c.breakf(where, "the content type %s is gone", media)
		default:
			c.compareSchema(in, way, old.Schema, current.Schema)
		}
	}
}

// union are the keys of both, in order.
func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)

	return slices.Compact(keys)
}
