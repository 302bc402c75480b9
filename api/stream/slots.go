package stream

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/middleware"
	"rihla/internal/store/db"
	"rihla/models"
)

// slotRetry is when a caller without a place is asked to come back.
const slotRetry = 5 * time.Second

// Slots bound how many requests of a kind one account, and one company, have running in this process: a slow client holds memory
// or a connection for minutes, and the clients of one account must not hold all of them.
type Slots struct {
	kind models.Key
	most int // 0: no limit

	mu    sync.Mutex
	taken map[uuid.UUID]int // by account and by company; those without any are not in it
}

// NewSlots makes them; most is of one account and of one company, 0: no limit.
func NewSlots(kind models.Key, most int) *Slots {
	return &Slots{kind: kind, most: most, taken: map[uuid.UUID]int{}}
}

// Acquire gives the caller a place, which leave gives back. Error: RATE_LIMITED.
func (p *Slots) Acquire(by db.Actor) (leave func(), err error) {
	if p.most <= 0 {
		return func() {}, nil
	}

	holders := []uuid.UUID{by.UserID}
	if by.ProviderID != uuid.Nil {
		holders = append(holders, by.ProviderID)
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	for _, id := range holders {
		if p.taken[id] >= p.most {
			return nil, middleware.RetryAfter(models.NewError(models.CodeRateLimited,
				"request.too_many_running", "max", p.most, "kind", models.TextOf(p.kind)), slotRetry)
		}
	}

	for _, id := range holders {
		p.taken[id]++
	}

	return sync.OnceFunc(func() { p.release(holders) }), nil
}

func (p *Slots) release(holders []uuid.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, id := range holders {
		if p.taken[id]--; p.taken[id] == 0 {
			delete(p.taken, id)
		}
	}
}
