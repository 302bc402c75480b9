package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/uptrace/bun"
)

// Bus is a vehicle with its embedded driver.
type Bus struct {
	bun.BaseModel `bun:"table:buses,alias:b"`

	ID            uuid.UUID  `bun:"id,pk"`
	ProviderID    uuid.UUID  `bun:"provider_id"`
	PlateNumber   string     `bun:"plate_number"`
	Model         string     `bun:"model"`
	Capacity      int        `bun:"capacity"`
	DriverName    string     `bun:"driver_name"`
	DriverPhone   string     `bun:"driver_phone"`
	DriverLicense string     `bun:"driver_license"`
	Features      []string   `bun:"features,array"`
	Accessibility string     `bun:"accessibility"` // for travellers with reduced mobility; empty: nothing is said
	Status        string     `bun:"status"`
	CreatedAt     time.Time  `bun:"created_at,nullzero,default:now()"`
	UpdatedAt     time.Time  `bun:"updated_at,nullzero,default:now()"`
	DeletedAt     *time.Time `bun:"deleted_at"`

	Affected *Affected `bun:"-"` // of a change that has taken it out of use; nil: any other
}

// Affected are the published trips, still to leave, that use what has just become unusable: the first of them, by departure, and how
// many there are.
type Affected struct {
	Trips []Trip // ID, Title and DepartureAt
	Total int64
}

// BusPhoto is a picture of a bus; the file is in the object storage under BlobKey.
type BusPhoto struct {
	bun.BaseModel `bun:"table:bus_photos,alias:bp"`

	ID          uuid.UUID `bun:"id,pk"`
	BusID       uuid.UUID `bun:"bus_id"`
	ProviderID  uuid.UUID `bun:"provider_id"`
	ContentType string    `bun:"content_type"`
	Size        int64     `bun:"size"` // bytes
	BlobKey     string    `bun:"blob_key"`
	Position    int       `bun:"position"`
	CreatedAt   time.Time `bun:"created_at,nullzero,default:now()"`
}

// MaxBusPhotos is how many photos a bus may have (rules: companies.photos).
const MaxBusPhotos = 10

// Hotel is where a trip stays (rules: companies.hotels).
type Hotel struct {
	bun.BaseModel `bun:"table:hotels,alias:h"`

	ID          uuid.UUID  `bun:"id,pk"`
	ProviderID  uuid.UUID  `bun:"provider_id"`
	Name        string     `bun:"name"`
	City        string     `bun:"city"`
	Stars       *int       `bun:"stars"`
	Address     string     `bun:"address"`
	Description string     `bun:"description"`
	Status      string     `bun:"status"`
	CreatedAt   time.Time  `bun:"created_at,nullzero,default:now()"`
	UpdatedAt   time.Time  `bun:"updated_at,nullzero,default:now()"`
	DeletedAt   *time.Time `bun:"deleted_at"`

	Affected *Affected `bun:"-"` // of a change that has taken it out of use; nil: any other
}

// RestStop is a place where a trip pauses (rules: companies.hotels).
type RestStop struct {
	bun.BaseModel `bun:"table:rest_stops,alias:rs"`

	ID         uuid.UUID        `bun:"id,pk"`
	ProviderID uuid.UUID        `bun:"provider_id"`
	Name       string           `bun:"name"`
	City       string           `bun:"city"`
	Latitude   *decimal.Decimal `bun:"latitude"`
	Longitude  *decimal.Decimal `bun:"longitude"`
	Amenities  []string         `bun:"amenities,array"`
	Status     string           `bun:"status"`
	CreatedAt  time.Time        `bun:"created_at,nullzero,default:now()"`
	UpdatedAt  time.Time        `bun:"updated_at,nullzero,default:now()"`
	DeletedAt  *time.Time       `bun:"deleted_at"`

	Affected *Affected `bun:"-"` // of a change that has taken it out of use; nil: any other
}

// TripType tells a pilgrimage from a tour.
type TripType string

// The trip types.
const (
	TripUmrah   TripType = "UMRAH"
	TripTourism TripType = "TOURISM"
)

// TripStatus is the state of a trip (rules: companies.publish).
type TripStatus string

// The trip states.
const (
	TripDraft     TripStatus = "DRAFT"
	TripPublished TripStatus = "PUBLISHED"
	// TripCancelling: it is being called off, or that waits for an approval. It is not listed and takes no booking.
	TripCancelling TripStatus = "CANCELLING"
	TripCancelled  TripStatus = "CANCELLED"
)

// Trip is what customers book. PricePerSeat includes VAT.
type Trip struct {
	bun.BaseModel `bun:"table:trips,alias:t"`

	ID           uuid.UUID  `bun:"id,pk"`
	ProviderID   uuid.UUID  `bun:"provider_id"`
	Type         TripType   `bun:"type"`
	Title        string     `bun:"title"`
	Origin       string     `bun:"origin"`
	Destination  string     `bun:"destination"`
	DepartureAt  time.Time  `bun:"departure_at"`
	ReturnAt     time.Time  `bun:"return_at"`
	HotelID      *uuid.UUID `bun:"hotel_id"`
	BusID        uuid.UUID  `bun:"bus_id"`
	PricePerSeat Money      `bun:"price_per_seat"`
	Capacity     int        `bun:"capacity"`
	SeatsTaken   int        `bun:"seats_taken"`
	Status       TripStatus `bun:"status"`
	CreatedAt    time.Time  `bun:"created_at,nullzero,default:now()"`
	UpdatedAt    time.Time  `bun:"updated_at,nullzero,default:now()"`
	DeletedAt    *time.Time `bun:"deleted_at"`

	RestStopIDs  []uuid.UUID `bun:"-"`
	ProviderName string      `bun:"provider_name,scanonly"`

	HasCancellation *bool `bun:"-"` // also one that was rejected or expired; nil: not read
}

// Runs reports whether the trip still takes place after now, as far as its row says.
func (t *Trip) Runs(now time.Time) bool {
	return t.Status == TripPublished && t.DeletedAt == nil && t.DepartureAt.After(now)
}

// IsCalledOff reports whether a trip in the state does not run, or is not to.
func (s TripStatus) IsCalledOff() bool { return s == TripCancelling || s == TripCancelled }

// SeatsLeft is how many seats can still be booked.
func (t *Trip) SeatsLeft() int { return t.Capacity - t.SeatsTaken }
