package server

import "net/http"

func (s *Server) findCheckouts(w http.ResponseWriter, r *http.Request, m *merchant) {
	reference := r.URL.Query().Get("merchant_reference")
	if reference == "" {
		invalid("merchant_reference is needed.").write(w)

		return
	}

	s.faulty(w, r, opStatus, m, func(f *fault) answer {
		if f.Mode == modeReject {
			return f.answer()
		}

		var id string

		err := s.store.view(func(t *tx) error {
			id = t.byReference(bucketCheckoutRefs, m.name, reference)

			return nil
		})
		if err != nil {
			return s.internal(err)
		}

		found := []checkoutView{}

		if id != "" {
			row, err := s.checkout(id)
			if err != nil || row == nil {
				return s.internal(err)
			}

			if !f.hides(row.CreatedAt, s.cfg.Clock()) {
				if err := s.recordClaim(row, f); err != nil {
					return s.internal(err)
				}

				found = append(found, s.viewOf(r, row, f))
			}
		}

		return listAnswer(found)
	})
}
