package operations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/api/contract"
	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/media"
	"rihla/models"
)

const (
	// uploadsAtOnce bounds the memory of all uploads of a process. One holds a photo (5 MiB) and what is kept of it (as much), what
	// the storage's client copies of it (up to 8 MiB with S3, nothing with files) and a payload of at most 1 MiB.
	uploadsAtOnce = 32
	// cleanupTime bounds the removal of files, which goes on when the request is over.
	cleanupTime = 30 * time.Second
)

// AddBusPhotos adds the photos of a form to a bus, all or none.
func (o *Operations) AddBusPhotos(ctx context.Context, r gen.AddBusPhotosRequestObject) (gen.AddBusPhotosResponseObject, error) {
	// Faults of the request come before a bus that does not exist (rules: scope.hidden); but for such a bus nothing is stored.
	_, missing := o.Store.Catalogue.GetBus(ctx, actor(ctx), r.ID)
	if missing != nil && models.CodeOf(missing) != models.CodeNotFound {
		return nil, missing
	}

	a, err := o.takeForm(ctx, missing == nil, nil)
	if err != nil {
		return nil, err
	}

	if missing != nil {
		return nil, missing
	}

	if _, err := o.Store.Catalogue.AddBusPhotos(ctx, actor(ctx), r.ID, a.photos); err != nil {
		a.rejected(ctx, err)

		return nil, err
	}

	b, err := o.Store.Catalogue.GetBus(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	answer, err := o.bus(ctx, &b)
	if err != nil {
		return nil, err
	}

	return gen.AddBusPhotos201JSONResponse{
		Body:    gen.BusAnswer{Data: answer},
		Headers: gen.AddBusPhotos201ResponseHeaders{Location: busPath(b.ID)},
	}, nil
}

// DeleteBusPhoto removes the row and then the file: should that fail, the file is of no photo and the sweep removes it.
func (o *Operations) DeleteBusPhoto(ctx context.Context, r gen.DeleteBusPhotoRequestObject) (gen.DeleteBusPhotoResponseObject, error) {
	key, err := o.Store.Catalogue.DeleteBusPhoto(ctx, actor(ctx), r.ID, r.PhotoID)
	if err != nil {
		return nil, err
	}

	o.removeFiles(ctx, key)

	return gen.DeleteBusPhoto204Response{}, nil
}

// photoForm is the photos of a form on their way to a bus: their files are stored, their rows are still to be written.
type photoForm struct {
	o      *Operations
	photos []models.BusPhoto
	// keep says that files are to be stored: not for a request that is refused already.
	keep bool
	// fault is the first of the worst things that are wrong with the files.
	fault error
}

// takeForm reads the form of a request: its photos, which are checked and stored one by one, and its payload, if payload
// is not nil. Parts come in any order. On an error nothing stays stored.
func (o *Operations) takeForm(ctx context.Context, keep bool, payload any) (*photoForm, error) {
	leave, err := o.ownUploads.Acquire(actor(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()

	select {
	case o.uploads <- struct{}{}:
		defer func() { <-o.uploads }()
	default:
		return nil, models.NewError(models.CodeServiceUnavailable, "photo.too_many_uploads")
	}

	a := &photoForm{o: o, keep: keep}
	upload := contract.UploadOf(ctx)

	err = a.read(ctx, upload, payload)
	if err == nil {
		err = a.fault
	}

	if err == nil {
		err = upload.Err()
	}

	if err != nil {
		a.discard(ctx)

		return nil, err
	}

	return a, nil
}

// read goes through the whole form, so that the answer does not depend on the order of its parts.
func (a *photoForm) read(ctx context.Context, upload *contract.Upload, payload any) error {
	var file bytes.Buffer

	for {
		field, err := upload.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return err
		}

		if field == "payload" {
			err = upload.JSON(ctx, payload)
		} else {
			file.Reset()
			file.Grow(media.MaxPhotoSize + 2*bytes.MinRead) // once: the same memory serves every photo
			err = upload.Read(&file, media.MaxPhotoSize)

			if err == nil {
				err = a.add(ctx, file.Bytes(), upload.Err() == nil)
			}
		}

		if err = a.noted(err); err != nil {
			return err
		}
	}
}

// noted keeps the fault of one part, behind which the form goes on: a client that is still sending would not see an
// answer. Any other error ends it. When the form itself is broken, the next part has the same fault.
func (a *photoForm) noted(err error) error {
	rank := slices.Index(photoFaults, models.CodeOf(err))
	if err == nil || rank < 0 {
		return err
	}

	if a.fault == nil || rank < slices.Index(photoFaults, models.CodeOf(a.fault)) {
		a.fault = err
	}

	return nil
}

// photoFaults are the possible faults of a part, in the order of their precedence in the answer (rules: scope.hidden).
var photoFaults = []models.Code{
	models.CodePayloadTooLarge, models.CodeMalformedRequest, models.CodeUnsupportedMediaType, models.CodeTooManyMembers,
	models.CodeValidation,
}

// add checks a file and stores it, unless the request is refused already.
func (a *photoForm) add(ctx context.Context, file []byte, faultless bool) error {
	contentType, err := media.Check(file)
	if err != nil {
		return err
	}

	photo, ok := media.Strip(contentType, file)
	if !ok {
		return models.NewError(models.CodeUnsupportedMediaType, "photo.incomplete")
	}

	if a.keep && faultless && a.fault == nil {
		return a.store(ctx, contentType, photo)
	}

	return nil
}

func (a *photoForm) store(ctx context.Context, contentType string, photo []byte) error {
	key, err := a.o.Media.Put(ctx, contentType, photo)
	if err != nil {
		return storageDown(err)
	}

	a.photos = append(a.photos, models.BusPhoto{
		ID: models.NewID(), ContentType: contentType, Size: int64(len(photo)), BlobKey: key,
	})

	return nil
}

// rejected removes the files when the database has rejected the rows. When the outcome is unknown, the rows may exist:
// the files stay, and if they belong to no photo the sweep removes them.
func (a *photoForm) rejected(ctx context.Context, err error) {
	if _, certain := errors.AsType[*models.Error](err); certain {
		a.discard(ctx)
	}
}

func (a *photoForm) discard(ctx context.Context) {
	keys := make([]string, len(a.photos))
	for i := range a.photos {
		keys[i] = a.photos[i].BlobKey
	}

	a.o.removeFiles(ctx, keys...)
}

// removeFiles removes files without a row. A file that cannot be removed now is left to the sweep.
func (o *Operations) removeFiles(ctx context.Context, keys ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()

	if err := o.Media.Remove(ctx, keys...); err != nil {
		o.Log.WarnContext(ctx, "photo files not deleted; the sweep of the storage retries", "request_id", middleware.RequestID(ctx), "error", err)
	}
}

// storageDown tells the client to come back; the log has the reason.
func storageDown(err error) error {
	return fmt.Errorf("%w: %w", models.NewError(models.CodeServiceUnavailable, "photo.storage_silent"), err)
}

// photosOf is a bus's photos as everybody sees them, each with an address that opens for some time.
func (o *Operations) photosOf(photos []models.BusPhoto) []gen.BusPhoto {
	return mapEach(photos, func(p *models.BusPhoto) gen.BusPhoto {
		return gen.BusPhoto{ID: p.ID, URL: o.Links.URL(p.ID), ContentType: gen.BusPhotoContentType(p.ContentType), Size: p.Size}
	})
}

// GetPhoto opens a photo by its signed address (rules: companies.photos). The answer does not say why an address is invalid.
func (o *Operations) GetPhoto(ctx context.Context, r gen.GetPhotoRequestObject) (gen.GetPhotoResponseObject, error) {
	until, ok := o.Links.Verify(r.PhotoID, valueOf(r.Params.Expires), valueOf(r.Params.Signature))
	if !ok {
		return nil, models.NotFound()
	}

	photo, err := o.Store.Catalogue.PhotoOfLiveBus(ctx, r.PhotoID)
	if err != nil {
		return nil, err
	}

	answer := photoFile{photo: photo, maxAge: until.Sub(o.Now())}
	if hasTag(valueOf(r.Params.IfNoneMatch), answer.tag()) {
		return answer, nil
	}

	answer.file, err = o.Media.Get(ctx, photo.BlobKey)

	switch {
	case errors.Is(err, media.ErrNotFound):
		// Deleted between the two reads, or lost.
		o.Log.WarnContext(ctx, "photo without a file", "request_id", middleware.RequestID(ctx), "photo_id", photo.ID)

		return nil, models.NotFound()
	case err != nil:
		return nil, storageDown(err)
	}

	return answer, nil
}

// photoFile is a photo as an answer; without a file, that the client has it already.
type photoFile struct {
	photo  models.BusPhoto
	file   io.ReadCloser
	maxAge time.Duration
}

// tag is the ETag: a photo never changes.
func (p photoFile) tag() string { return strconv.Quote(p.photo.ID.String()) }

// hasTag reads an If-None-Match header.
func hasTag(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}

	return false
}

// VisitGetPhotoResponse implements the generated interface.
func (p photoFile) VisitGetPhotoResponse(f *fiber.Ctx) error {
	f.Set(fiber.HeaderETag, p.tag())
	f.Set(fiber.HeaderCacheControl, fmt.Sprintf("private, max-age=%d", int(p.maxAge.Seconds())))
	// The pages that show photos are at other addresses.
	f.Set("Cross-Origin-Resource-Policy", "cross-origin")

	if p.file == nil {
		f.Status(fiber.StatusNotModified)

		return nil
	}

	f.Set(fiber.HeaderContentType, p.photo.ContentType)
	f.Set(fiber.HeaderContentDisposition, "inline")
	f.Context().SetBodyStream(p.file, int(p.photo.Size)) // closes the file at the end

	return nil
}
