package middleware

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"rihla/api/contract"
	"rihla/models"
)

// greatestPage bounds the rows of an answer before it is known how many there are.
const greatestPage = 100

// countPeople has what do answers with counted when it shows people: as many as may be in it before, and those that are in it afterwards
// (rules: privacy.lists). Customers see their own rows alone. Errors: those of Deps.ReadPeople and of do.
func (c *Chain) countPeople(f *fiber.Ctx, op *contract.Operation, do func() error) error {
	r := requestOf(f.UserContext())
	if op.People == contract.NoPeople || c.deps.ReadPeople == nil || r.principal.Role == models.RoleEndUser {
		return do()
	}

	read, err := c.deps.ReadPeople(f.UserContext(), r.principal, op.ID, mostPeople(f, op))
	if err != nil {
		return err
	}

	rows := mostPeople(f, op) // unless there is an answer, after a panic, too

	defer func() { read(context.WithoutCancel(f.UserContext()), rows) }()

	if err = do(); err != nil || f.Response().StatusCode() >= http.StatusBadRequest {
		rows = 0

		return err
	}

	rows = peopleIn(f, op)

	return nil
}

// mostPeople is how many rows an answer can have.
func mostPeople(f *fiber.Ctx, op *contract.Operation) int {
	if op.People == contract.OnePerson {
		return 1
	}

	if page, err := strconv.Atoi(f.Query("per_page", "20")); err == nil && op.Pages() {
		return page
	}

	return greatestPage
}

// peopleIn counts the rows of an answer.
func peopleIn(f *fiber.Ctx, op *contract.Operation) int {
	if op.People == contract.OnePerson {
		return 1
	}

	var page struct {
		Data []json.RawMessage `json:"data"`
	}

	if err := json.Unmarshal(f.Response().Body(), &page); err != nil {
		return mostPeople(f, op) // no list that is known here
	}

	return len(page.Data)
}
