package audit

import "strings"

// wordGuards write what searches find: of ledger lines, and of all that has a list.
func wordGuards() []guard {
	lists := []struct{ table, columns string }{
		{"providers", "name, email, phone"},
		{"users", "name, email, phone"},
		{"buses", "plate_number, model, driver_name"},
		{"hotels", "name, city"},
		{"rest_stops", "name, city"},
		{"trips", "title, origin, destination"},
		{"ad_campaigns", "title, description"},
	}

	out := make([]guard, 0, 4+2*len(lists))
	out = append(out, []guard{
		{"0062", "", "search_fold", "be24eb54cf4e37396f9f36a8bf9619d3"},
		{"0062", "", "fold_record_text", "d392f3440e802e04029ac0077405cab2"},
		{
			"0062", "record_texts", "record_texts_folded", "BEFORE INSERT OR UPDATE ON record_texts FOR EACH ROW " +
				"EXECUTE FUNCTION fold_record_text()",
		},
		{"0064", "", "write_subject_words", "8617cdb9a01557c935253678c1af210a"},
	}...)

	for _, of := range lists {
		words := "'" + strings.ReplaceAll(of.columns, ", ", "', '") + "'"

		out = append(out,
			guard{
				"0064", of.table, of.table + "_worded", "AFTER INSERT OR UPDATE OF " + of.columns + " ON " + of.table +
					" FOR EACH ROW EXECUTE FUNCTION write_subject_words(" + words + ")",
			},
			guard{"0064", of.table, of.table + "_unworded", "AFTER DELETE ON " + of.table + " FOR EACH ROW EXECUTE FUNCTION write_subject_words()"})
	}

	return out
}
