/* SPDX-License-Identifier: MIT
 *
 * Row group by row group: a reader of its own for each, so that the bytes of one alone are asked for, and one that is damaged costs no
 * other.  Columns are decoded and encoded in parallel, on Arrow's threads.
 */
#include "base/parquet.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <future>
#include <string>
#include <unistd.h>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <arrow/io/api.h>
#include <arrow/util/io_util.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>

using arrow::Status;
using arrow::Type;

namespace {

enum { BATCH_BYTES = 4 << 20, BATCH_ROWS = 1 << 14 };

int fail(pd_parquet_error *e, const Status &s)
{
	e->number = s.IsOutOfMemory() ? ENOMEM : arrow::internal::ErrnoFromStatus(s);
	std::string text = s.message();
	for (char &c : text)
		if (c == '\n')
			c = ' ';
	snprintf(e->text, sizeof e->text, "%s", text.c_str());
	return -1;
}

/* Everything that calls Arrow goes through here. */
template <class Work> int guarded(pd_parquet_error *e, Work work)
{
	try {
		Status s = work();
		return s.ok() ? 0 : fail(e, s);
	} catch (const std::bad_alloc &) {
		return fail(e, Status::OutOfMemory("no memory"));
	} catch (const std::exception &x) {
		return fail(e, Status::Invalid(x.what()));
	}
}

arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> open_file(int fd)
{
	int own = dup(fd);
	if (own < 0)
		return Status::IOError(strerror(errno));
	ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(own));
	parquet::ReaderProperties properties = parquet::default_reader_properties();
	properties.enable_buffered_stream();
	properties.set_buffer_size(1 << 18);
	parquet::ArrowReaderProperties arrow_properties = parquet::default_arrow_reader_properties();
	arrow_properties.set_pre_buffer(false);
	arrow_properties.set_use_threads(true);
	parquet::arrow::FileReaderBuilder builder;
	ARROW_RETURN_NOT_OK(builder.Open(file, properties));
	std::unique_ptr<parquet::arrow::FileReader> reader;
	ARROW_RETURN_NOT_OK(builder.properties(arrow_properties)->Build(&reader));
	return reader;
}

/* --- what columns become --- */

int natural_type(const arrow::DataType &t)
{
	switch (t.id()) {
	case Type::BOOL: case Type::UINT8: case Type::UINT16: case Type::UINT32: case Type::UINT64:
	case Type::INT8: case Type::INT16: case Type::INT32: case Type::INT64: return PD_PARQUET_NUMBER;
	case Type::HALF_FLOAT: case Type::FLOAT: case Type::DOUBLE: return PD_PARQUET_REAL;
	case Type::STRING: case Type::LARGE_STRING: case Type::STRING_VIEW: case Type::TIMESTAMP: case Type::DATE32: case Type::NA:
		return PD_PARQUET_TEXT;
	case Type::DICTIONARY: return natural_type(*static_cast<const arrow::DictionaryType &>(t).value_type());
	case Type::FIXED_SIZE_BINARY: return PD_PARQUET_BYTES;
	case Type::BINARY: case Type::LARGE_BINARY: case Type::BINARY_VIEW: return PD_PARQUET_BLOB;
	default: return 0;
	}
}

std::shared_ptr<arrow::DataType> plain_type(int type)
{
	switch (type) {
	case PD_PARQUET_NUMBER: return arrow::uint64();
	case PD_PARQUET_REAL: return arrow::float64();
	case PD_PARQUET_TEXT: return arrow::large_utf8();
	default: return arrow::large_binary();
	}
}

/* "2024-01-02T03:04:05Z" */
arrow::Result<std::shared_ptr<arrow::Array>> print_times(const std::shared_ptr<arrow::Array> &from)
{
	ARROW_ASSIGN_OR_RAISE(auto as, arrow::compute::Cast(*from, arrow::timestamp(arrow::TimeUnit::SECOND),
							     arrow::compute::CastOptions::Unsafe()));
	const auto &times = static_cast<const arrow::TimestampArray &>(*as);
	arrow::LargeStringBuilder out;
	for (int64_t i = 0; i < times.length(); i++) {
		time_t t = times.IsNull(i) ? 0 : (time_t)times.Value(i);
		struct tm tm;
		char text[40];
		if (times.IsNull(i) || !gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
			ARROW_RETURN_NOT_OK(out.AppendNull());
		else
			ARROW_RETURN_NOT_OK(out.Append(text));
	}
	return out.Finish();
}

arrow::Result<std::shared_ptr<arrow::Array>> become(std::shared_ptr<arrow::Array> a, int type, bool bits)
{
	if (a->type_id() == Type::DICTIONARY) {
		const auto &d = static_cast<const arrow::DictionaryArray &>(*a);
		ARROW_ASSIGN_OR_RAISE(a, arrow::compute::Cast(*a, d.dictionary()->type()));
	}
	if (type == PD_PARQUET_BYTES)
		return a;
	if (type == PD_PARQUET_TEXT && (a->type_id() == Type::TIMESTAMP || a->type_id() == Type::DATE32))
		return print_times(a);
	auto to = plain_type(type);
	if (a->type()->Equals(*to))
		return a;
	arrow::compute::CastOptions options = arrow::compute::CastOptions::Safe();
	options.allow_int_overflow = bits;
	return arrow::compute::Cast(*a, to, options);
}

struct Piece {
	int status = 0;		/* as pd_parquet_next */
	pd_parquet_error error = { 0, "" };
	uint64_t row = 0, n = 0;
	int group = 0;
	std::vector<std::shared_ptr<arrow::Array>> arrays;
	std::vector<std::vector<uint8_t>> valid;	/* of arrays that are part of others */
	std::vector<pd_parquet_column> v;
};

void show(Piece &piece, size_t i, const std::string &name)
{
	const arrow::Array &a = *piece.arrays[i];
	pd_parquet_column &c = piece.v[i];
	c.name = name.c_str();
	if (a.null_count() && a.offset() % 8 == 0) {
		c.valid = a.null_bitmap_data() + a.offset() / 8;
	} else if (a.null_count()) {
		piece.valid[i].assign((size_t)(a.length() + 7) / 8, 0);
		for (int64_t k = 0; k < a.length(); k++)
			if (a.IsValid(k))
				piece.valid[i][(size_t)k / 8] |= (uint8_t)(1 << k % 8);
		c.valid = piece.valid[i].data();
	}
	switch (a.type_id()) {
	case Type::UINT64: c.data = static_cast<const arrow::UInt64Array &>(a).raw_values(); break;
	case Type::DOUBLE: c.data = static_cast<const arrow::DoubleArray &>(a).raw_values(); break;
	case Type::FIXED_SIZE_BINARY:
		c.data = static_cast<const arrow::FixedSizeBinaryArray &>(a).raw_values();
		c.width = static_cast<const arrow::FixedSizeBinaryArray &>(a).byte_width();
		break;
	default:
		c.data = static_cast<const arrow::LargeBinaryArray &>(a).raw_data();
		c.offsets = static_cast<const arrow::LargeBinaryArray &>(a).raw_value_offsets();
	}
}

} // namespace

/* --- reading --- */

struct pd_parquet {
	std::unique_ptr<parquet::arrow::FileReader> reader;
	std::shared_ptr<arrow::Schema> schema;
	std::vector<std::string> names;
	std::shared_ptr<const arrow::KeyValueMetadata> notes;
	std::vector<std::string> note_texts;
	std::vector<int> leaf;		/* of each column; -1: it has parts */
	uint64_t rows = 0;
	/* what is read */
	std::vector<pd_parquet_want> want;
	std::vector<int> leaves;	/* of what is wanted, ascending, each once */
	std::unique_ptr<arrow::RecordBatchReader> group_reader;
	int group = 0, groups = 0;
	uint64_t row = 0, group_end = 0, skip = 0;	/* the next row; after the group's; rows to pass over */
	std::future<Piece> ahead;
	Piece now;

	Piece produce();
	Status open_group();
	Status take(const std::shared_ptr<arrow::RecordBatch> &batch, Piece &piece);
};

Status pd_parquet::open_group()
{
	auto meta = reader->parquet_reader()->metadata()->RowGroup(group);
	int64_t n = meta->num_rows(), bytes = 0;
	group_end = row + (uint64_t)n;
	for (int i : leaves)
		bytes += meta->ColumnChunk(i)->total_uncompressed_size();
	int64_t size = n > 0 && bytes > 0 ? (int64_t)BATCH_BYTES / (bytes / n + 1) : (int64_t)BATCH_ROWS;
	reader->set_batch_size(size < 1 ? 1 : size > BATCH_ROWS ? (int64_t)BATCH_ROWS : size);
	ARROW_ASSIGN_OR_RAISE(group_reader, reader->GetRecordBatchReader({ group }, leaves));
	return Status::OK();
}

Status pd_parquet::take(const std::shared_ptr<arrow::RecordBatch> &batch, Piece &piece)
{
	piece.arrays.resize(want.size());
	piece.valid.resize(want.size());
	piece.v.assign(want.size(), pd_parquet_column{});
	for (size_t i = 0; i < want.size(); i++) {
		auto from = batch->GetColumnByName(names[want[i].column]);
		if (!from)
			return Status::Invalid("column '", names[want[i].column], "' is missing");
		auto made = become(from, want[i].type, want[i].bits);
		if (!made.ok())
			return Status::Invalid("column '", names[want[i].column], "': ", made.status().message());
		piece.arrays[i] = *made;
		ARROW_RETURN_NOT_OK(piece.arrays[i]->Validate());
		piece.v[i].type = want[i].type;
		show(piece, i, names[want[i].column]);
	}
	return Status::OK();
}

Piece pd_parquet::produce()
{
	for (;;) {
		Piece piece;
		std::shared_ptr<arrow::RecordBatch> batch;
		if (!group_reader && group == groups)
			return piece;
		int r = guarded(&piece.error, [&]() -> Status {
			if (!group_reader)
				ARROW_RETURN_NOT_OK(open_group());
			ARROW_RETURN_NOT_OK(group_reader->ReadNext(&batch));
			if (batch && row + (uint64_t)batch->num_rows() > group_end)
				return Status::Invalid("more rows than it says");
			if (!batch && row < group_end)
				return Status::Invalid("fewer rows than it says");
			if (batch && skip) {
				int64_t over = skip < (uint64_t)batch->num_rows() ? (int64_t)skip : batch->num_rows();
				batch = batch->Slice(over);
				row += (uint64_t)over;
				skip -= (uint64_t)over;
			}
			return batch && batch->num_rows() ? take(batch, piece) : Status::OK();
		});
		piece.group = group;
		piece.row = row;
		if (r < 0) {
			/* What begins a group says how long it is. */
			piece.n = group_end > row ? group_end - row : 0;
			piece.status = -1;
			row = group_end;
			skip = 0;
		} else if (batch && batch->num_rows()) {
			piece.status = 1;
			piece.n = (uint64_t)batch->num_rows();
			row += piece.n;
		}
		if (r < 0 || !batch) {
			group_reader.reset();
			group++;
		}
		if (piece.status)
			return piece;
	}
}

int pd_parquet_open(struct pd_parquet **out, int fd, struct pd_parquet_error *e)
{
	*out = nullptr;
	std::unique_ptr<pd_parquet> p;
	int r = guarded(e, [&]() -> Status {
		p = std::make_unique<pd_parquet>();
		ARROW_ASSIGN_OR_RAISE(p->reader, open_file(fd));
		ARROW_RETURN_NOT_OK(p->reader->GetSchema(&p->schema));
		auto meta = p->reader->parquet_reader()->metadata();
		p->rows = (uint64_t)meta->num_rows();
		p->groups = meta->num_row_groups();
		p->notes = meta->key_value_metadata();
		int64_t sum = 0;
		for (int i = 0; i < p->groups; i++) {
			int64_t n = meta->RowGroup(i)->num_rows();
			if (n < 0)
				return Status::Invalid("a row group of ", n, " rows");
			sum += n;
		}
		if (sum != meta->num_rows())
			return Status::Invalid("its row groups have ", sum, " rows, and it says ", meta->num_rows());
		for (const auto &field : p->reader->manifest().schema_fields) {
			p->names.push_back(field.field->name());
			p->leaf.push_back(field.column_index);
		}
		return Status::OK();
	});
	if (!r)
		*out = p.release();
	return r;
}

void pd_parquet_close(struct pd_parquet *p)
{
	if (p && p->ahead.valid())
		p->ahead.wait();
	delete p;
}

uint64_t pd_parquet_rows(const struct pd_parquet *p)
{
	return p->rows;
}

const char *pd_parquet_note(const struct pd_parquet *p, const char *key)
{
	int at = p->notes ? p->notes->FindKey(key) : -1;
	return at < 0 ? nullptr : p->notes->values()[(size_t)at].c_str();
}

size_t pd_parquet_columns(const struct pd_parquet *p)
{
	return p->names.size();
}

const char *pd_parquet_name(const struct pd_parquet *p, size_t i)
{
	return p->names[i].c_str();
}

int pd_parquet_type(const struct pd_parquet *p, size_t i)
{
	return p->leaf[i] < 0 ? 0 : natural_type(*p->schema->field((int)i)->type());
}

int pd_parquet_read(struct pd_parquet *p, const struct pd_parquet_want *want, size_t n, uint64_t from, struct pd_parquet_error *e)
{
	if (p->ahead.valid())
		p->ahead.wait();
	return guarded(e, [&]() -> Status {
		p->ahead = std::future<Piece>();
		p->want.assign(want, want + n);
		p->leaves.clear();
		for (size_t i = 0; i < p->leaf.size(); i++)
			for (size_t k = 0; k < n; k++)
				if (want[k].column == i) {
					p->leaves.push_back(p->leaf[i]);
					break;
				}
		p->group_reader.reset();
		auto meta = p->reader->parquet_reader()->metadata();
		p->row = p->skip = 0;
		for (p->group = 0; p->group < p->groups; p->group++) {
			uint64_t rows = (uint64_t)meta->RowGroup(p->group)->num_rows();
			if (from < p->row + rows)
				break;
			p->row += rows;
		}
		p->group_end = p->row;
		p->skip = from > p->row ? from - p->row : 0;
		return Status::OK();
	});
}

int pd_parquet_next(struct pd_parquet *p, struct pd_parquet_batch *out, struct pd_parquet_error *e)
{
	int r = guarded(e, [&]() -> Status {
		p->now = p->ahead.valid() ? p->ahead.get() : p->produce();
		if (p->now.status)
			p->ahead = std::async(std::launch::async, [p]() { return p->produce(); });
		return Status::OK();
	});
	if (r < 0)
		return r;
	*out = { p->now.row, p->now.n, p->now.group, p->now.v.data() };
	if (p->now.status < 0)
		*e = p->now.error;
	return p->now.status;
}

/* --- writing --- */

namespace {

class Sink : public arrow::io::OutputStream {
public:
	Sink(pd_parquet_write *write, void *ctx) : write_(write), ctx_(ctx) {}
	Status Write(const void *bytes, int64_t n) override
	{
		number = number ? number : write_(ctx_, bytes, (size_t)n);
		at_ += n;
		return number ? Status::IOError(strerror(number)) : Status::OK();
	}
	Status Close() override
	{
		closed_ = true;
		return Status::OK();
	}
	arrow::Result<int64_t> Tell() const override { return at_; }
	bool closed() const override { return closed_; }
	int number = 0;		/* errno */

private:
	pd_parquet_write *write_;
	void *ctx_;
	int64_t at_ = 0;
	bool closed_ = false;
};

arrow::Result<std::unique_ptr<parquet::arrow::FileWriter>> open_writer(const std::shared_ptr<arrow::Schema> &schema,
								       const std::shared_ptr<Sink> &sink)
{
	parquet::WriterProperties::Builder properties;
	properties.compression(parquet::Compression::ZSTD);
	properties.max_row_group_length(INT64_MAX);
	parquet::ArrowWriterProperties::Builder arrow_properties;
	arrow_properties.store_schema()->set_use_threads(true);
	return parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), sink, properties.build(), arrow_properties.build());
}

std::shared_ptr<arrow::DataType> written_type(const pd_parquet_column &c)
{
	return c.type == PD_PARQUET_BYTES ? arrow::fixed_size_binary(c.width) : plain_type(c.type);
}

/* The arrays lie where they are. */
std::shared_ptr<arrow::Array> view(const pd_parquet_column &c, int64_t rows)
{
	auto buffer = [](const void *p, int64_t n) { return std::make_shared<arrow::Buffer>((const uint8_t *)p, n); };
	std::vector<std::shared_ptr<arrow::Buffer>> buffers = { c.valid ? buffer(c.valid, (rows + 7) / 8) : nullptr };
	if (c.type == PD_PARQUET_TEXT) {
		buffers.push_back(buffer(c.offsets, (rows + 1) * 8));
		buffers.push_back(buffer(c.data, c.offsets[rows]));
	} else {
		buffers.push_back(buffer(c.data, rows * (c.type == PD_PARQUET_BYTES ? c.width : 8)));
	}
	return arrow::MakeArray(arrow::ArrayData::Make(written_type(c), rows, buffers, c.valid ? arrow::kUnknownNullCount : 0));
}

int fail_written(const Sink &sink, int r, pd_parquet_error *e)
{
	if (r && sink.number)
		e->number = sink.number;
	return r;
}

} // namespace

struct pd_parquet_writer {
	std::shared_ptr<Sink> sink;
	std::shared_ptr<arrow::Schema> schema;
	std::unique_ptr<parquet::arrow::FileWriter> writer;
};

int pd_parquet_writer_open(struct pd_parquet_writer **out, const struct pd_parquet_column *v, size_t n, const char *key, const char *note,
			   pd_parquet_write *write, void *ctx, struct pd_parquet_error *e)
{
	std::unique_ptr<pd_parquet_writer> w;
	*out = nullptr;
	int r = guarded(e, [&]() -> Status {
		w = std::make_unique<pd_parquet_writer>();
		w->sink = std::make_shared<Sink>(write, ctx);
		arrow::FieldVector fields;
		for (size_t i = 0; i < n; i++)
			fields.push_back(arrow::field(v[i].name, written_type(v[i])));
		w->schema = arrow::schema(fields, arrow::key_value_metadata({ key }, { note }));
		ARROW_ASSIGN_OR_RAISE(w->writer, open_writer(w->schema, w->sink));
		return Status::OK();
	});
	if (!r)
		*out = w.release();
	return r;
}

int pd_parquet_writer_put(struct pd_parquet_writer *w, const struct pd_parquet_column *v, uint64_t rows, struct pd_parquet_error *e)
{
	int r = guarded(e, [&]() -> Status {
		arrow::ArrayVector arrays;
		for (int i = 0; i < w->schema->num_fields(); i++)
			arrays.push_back(view(v[i], (int64_t)rows));
		ARROW_RETURN_NOT_OK(w->writer->NewBufferedRowGroup());
		return w->writer->WriteRecordBatch(*arrow::RecordBatch::Make(w->schema, (int64_t)rows, arrays));
	});
	return fail_written(*w->sink, r, e);
}

int pd_parquet_writer_end(struct pd_parquet_writer *w, const char *key, const char *note, struct pd_parquet_error *e)
{
	int r = guarded(e, [&]() -> Status {
		if (note)
			ARROW_RETURN_NOT_OK(w->writer->AddKeyValueMetadata(arrow::key_value_metadata({ key }, { note })));
		return w->writer->Close();
	});
	return fail_written(*w->sink, r, e);
}

void pd_parquet_writer_free(struct pd_parquet_writer *w)
{
	/* A writer that was not ended writes its end when it goes, to a sink that takes nothing more. */
	if (w && !w->sink->number)
		w->sink->number = ECANCELED;
	try {
		delete w;
	} catch (...) {
	}
}

namespace {

/* Of a batch that begins with row `at` what is no part of a cut. */
template <class Give> Status uncut(const arrow::RecordBatch &batch, uint64_t at, const pd_parquet_cut *cuts, size_t n, size_t &next, Give give)
{
	uint64_t end = at + (uint64_t)batch.num_rows(), from = at;
	while (from < end) {
		while (next < n && cuts[next].to <= from)
			next++;
		uint64_t to = next < n && cuts[next].from < end ? cuts[next].from : end;
		if (to > from)
			ARROW_RETURN_NOT_OK(give(*batch.Slice((int64_t)(from - at), (int64_t)(to - from))));
		from = to < end ? (cuts[next].to < end ? cuts[next].to : end) : end;
	}
	return Status::OK();
}

} // namespace

int pd_parquet_copy(int fd, const struct pd_parquet_cut *cuts, size_t n, pd_parquet_write *write, void *ctx, struct pd_parquet_error *e)
{
	auto sink = std::make_shared<Sink>(write, ctx);
	int r = guarded(e, [&]() -> Status {
		ARROW_ASSIGN_OR_RAISE(auto reader, open_file(fd));
		auto meta = reader->parquet_reader()->metadata();
		std::shared_ptr<arrow::Schema> schema;
		ARROW_RETURN_NOT_OK(reader->GetSchema(&schema));
		ARROW_ASSIGN_OR_RAISE(auto writer, open_writer(schema, sink));
		uint64_t at = 0;
		size_t next = 0;
		for (int g = 0; g < meta->num_row_groups(); g++) {
			int64_t rows = meta->RowGroup(g)->num_rows(), bytes = meta->RowGroup(g)->total_byte_size();
			int64_t size = rows > 0 && bytes > 0 ? (int64_t)BATCH_BYTES / (bytes / rows + 1) : (int64_t)BATCH_ROWS;
			reader->set_batch_size(size < 1 ? 1 : size > BATCH_ROWS ? (int64_t)BATCH_ROWS : size);
			auto opened = reader->GetRecordBatchReader({ g });
			if (!opened.ok())
				return Status::Invalid("row group ", g, ": ", opened.status().message());
			bool begun = false;
			for (uint64_t end = at + (uint64_t)rows;;) {
				std::shared_ptr<arrow::RecordBatch> batch;
				Status s = (*opened)->ReadNext(&batch);
				if (!s.ok())
					return Status::Invalid("row group ", g, ", row ", at, ": ", s.message());
				if (!batch && at != end)
					return Status::Invalid("row group ", g, ": fewer rows than it says");
				if (!batch)
					break;
				ARROW_RETURN_NOT_OK(uncut(*batch, at, cuts, n, next, [&](const arrow::RecordBatch &part) -> Status {
					if (!begun)
						ARROW_RETURN_NOT_OK(writer->NewBufferedRowGroup());
					begun = true;
					return writer->WriteRecordBatch(part);
				}));
				at += (uint64_t)batch->num_rows();
			}
		}
		return writer->Close();
	});
	return fail_written(*sink, r, e);
}
