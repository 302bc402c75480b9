package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	// public needs no token, authenticated is any role; other words in x-roles are roles.
	public        = "public"
	authenticated = "authenticated"
)

// compareRoles finds callers that may no longer call.
func (c *changes) compareRoles(where string, old, current *openapi3.Operation) {
	olds, currents := roles(old), roles(current)

	for _, role := range olds {
		if !slices.Contains(currents, role) && !opens(currents, role) {
			c.breakf(where, "x-roles: %s may no longer call it", role)
		}
	}

	for _, role := range currents {
		if !slices.Contains(olds, role) && !opens(olds, role) {
			c.addf(where, "x-roles: %s may call it", role)
		}
	}
}

// opens says that the roles let everybody in who has the given one.
func opens(roles []string, role string) bool {
	return slices.Contains(roles, public) || (slices.Contains(roles, authenticated) && role != public)
}

func roles(op *openapi3.Operation) []string {
	list, _ := op.Extensions["x-roles"].([]any)
	names := make([]string, 0, len(list))

	for _, item := range list {
		if name, ok := item.(string); ok {
			names = append(names, name)
		}
	}

	return names
}

// security are the ways to identify oneself to the operation; without any it is open.
func security(doc *openapi3.T, op *openapi3.Operation) openapi3.SecurityRequirements {
	if op.Security != nil {
		return *op.Security
	}

	return doc.Security
}

// compareSecurity finds ways to identify oneself that no longer suffice: every old one must still satisfy a current one.
func (c *changes) compareSecurity(where string, olds, currents openapi3.SecurityRequirements) {
	if len(olds) == 0 {
		olds = openapi3.SecurityRequirements{{}}
	}

	if len(currents) == 0 {
		currents = openapi3.SecurityRequirements{{}}
	}

	for _, old := range olds {
		if !slices.ContainsFunc(currents, func(current openapi3.SecurityRequirement) bool { return satisfies(old, current) }) {
			c.breakf(where, "security: %s no longer suffices", scheme(old))
		}
	}

	for _, current := range currents {
		if !slices.ContainsFunc(olds, func(old openapi3.SecurityRequirement) bool { return satisfies(current, old) }) {
			c.addf(where, "security: %s suffices", scheme(current))
		}
	}
}

// satisfies says that who has all of have meets all of need.
func satisfies(have, need openapi3.SecurityRequirement) bool {
	for name, scopes := range need {
		given, ok := have[name]
		if !ok {
			return false
		}

		for _, scope := range scopes {
			if !slices.Contains(given, scope) {
				return false
			}
		}
	}

	return true
}

func scheme(r openapi3.SecurityRequirement) string {
	if len(r) == 0 {
		return "nothing"
	}

	return strings.Join(slices.Sorted(maps.Keys(r)), " with ")
}

// compareSecuritySchemes finds schemes that mean something else now.
func (c *changes) compareSecuritySchemes(before, after *openapi3.T) {
	olds, currents := schemes(before), schemes(after)

	for _, name := range union(olds, currents) {
		old, current := olds[name], currents[name]
		// The removal of a scheme shows at the operations that used it.
		if old == nil || current == nil {
			continue
		}

		a, b := old.Value, current.Value
		if a.Type != b.Type || a.Scheme != b.Scheme || a.In != b.In || a.Name != b.Name || a.OpenIdConnectUrl != b.OpenIdConnectUrl {
			c.breakf("security scheme "+name, "it is another one")
		}
	}
}

func schemes(doc *openapi3.T) openapi3.SecuritySchemes {
	if doc.Components == nil {
		return nil
	}

	return doc.Components.SecuritySchemes
}
