package middleware

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"
)

// Router registers routes with the checks of their operation in front. It is handed to the generated registration.
type Router struct {
	fiber.Router

	chain      *Chain
	registered map[string]bool
	errs       []error
}

// Router wraps a Fiber router. After registration, Err tells what is missing.
func (c *Chain) Router(r fiber.Router) *Router {
	return &Router{Router: r, chain: c, registered: map[string]bool{}}
}

// Err reports routes that the document does not have, and operations that no route serves.
func (r *Router) Err() error {
	errs := r.errs

	for key := range r.chain.operations {
		if !r.registered[key] {
			errs = append(errs, fmt.Errorf("%s is in the document but has no route", key))
		}
	}

	return errors.Join(errs...)
}

// Get registers a GET operation; HEAD comes with it.
func (r *Router) Get(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Router.Get(path, r.checked(http.MethodGet, path, handlers)...)
}

// Post registers a POST operation.
func (r *Router) Post(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Router.Post(path, r.checked(http.MethodPost, path, handlers)...)
}

// Put registers a PUT operation.
func (r *Router) Put(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Router.Put(path, r.checked(http.MethodPut, path, handlers)...)
}

// Patch registers a PATCH operation.
func (r *Router) Patch(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Router.Patch(path, r.checked(http.MethodPatch, path, handlers)...)
}

// Delete registers a DELETE operation.
func (r *Router) Delete(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Router.Delete(path, r.checked(http.MethodDelete, path, handlers)...)
}

// checked finds the operation once, at registration, so that a request costs no lookup beyond Fiber's routing.
func (r *Router) checked(method, path string, handlers []fiber.Handler) []fiber.Handler {
	key := method + " " + path

	op, ok := r.chain.operations[key]
	if !ok {
		r.errs = append(r.errs, fmt.Errorf("route %s is not in the document", key))

		return handlers
	}

	r.registered[key] = true

	check := func(f *fiber.Ctx) error { return r.chain.run(f, op) }

	return append([]fiber.Handler{check}, handlers...)
}
