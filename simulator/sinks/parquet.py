"""Folders of Parquet, one row a message: a table of a data lake, partitioned by topic and partition.

    DIR/topic=orders/partition=0/part-0000000.parquet

Spark, DuckDB, Hive and Arrow read the folder as one table, whose columns are those of `columns.MESSAGES`. The rows of
a file are in stream order.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO, Final

import pyarrow as pa
import pyarrow.parquet as parquet

from simulator.batch import MessageBatch
from simulator.errors import SimulatorError, SinkError
from simulator.sinks.columns import IN_PARTITIONS, message_rows
from simulator.sinks.files import OPTIONS, FolderSink, in_file_names, parse_folder, part_name
from simulator.sinks.framing import Lines
from simulator.sinks.ledger import Place
from simulator.sinks.target import Transport

# Columns of few values. The others would fill a dictionary in vain.
REPEATED: Final = ["tag", "kind", "changes"]
# Columns with statistics, by which readers skip row groups.
STATISTICS: Final = [*REPEATED, "timestamp", "position.phase", "position.turn", "position.ordinal"]


class ParquetSink(FolderSink):
    """One file for each topic and partition; a batch is a row group of each. Files are whole when `flush` returns."""

    SCHEME = "parquet"

    def __init__(self, folder: Path, partitions: int, *, part: int = 0) -> None:
        self._writers: dict[IO[bytes], parquet.ParquetWriter] = {}
        super().__init__(folder, partitions, Lines(), part=part)

    def _pattern_of_files(self) -> str:
        return "topic=*"

    def file_name(self, topic: str, partition: int) -> str:
        assert self._part is not None
        return f"{part_name(f'topic={in_file_names(topic)}/partition={partition}', self._part)}.parquet"

    def _append(self, file: IO[bytes], batch: MessageBatch) -> None:
        if file not in self._writers:
            self._writers[file] = parquet.ParquetWriter(
                file, IN_PARTITIONS, compression="zstd", use_dictionary=REPEATED, write_statistics=STATISTICS
            )
        try:
            self._writers[file].write_table(pa.Table.from_batches([message_rows(batch, IN_PARTITIONS)]))
        except OSError:
            with suppress(OSError):  # the batch is lost; its writer must not outlive the file
                self._writers.pop(file).close()
            raise

    def _cut(self, place: Place, size: int) -> bool:
        return True  # without its end it is no file of Parquet, wherever it ends

    def flush(self) -> None:
        """Write the ends of the files. Raises SinkError, DeliveryFailed."""
        while self._writers:
            file, writer = self._writers.popitem()
            try:
                writer.close()
                file.flush()
            except OSError as error:
                Path(file.name).unlink(missing_ok=True)  # without its end no reader takes it
                raise SinkError(
                    f"{file.name}: its end cannot be written: {error.strerror}. The file is removed."
                ) from None
        super().flush()

    def close(self) -> None:
        while self._writers:
            with suppress(SimulatorError):
                self.flush()
        super().close()


PARQUET: Final = Transport(
    form="parquet:DIR",
    parse=parse_folder,
    open=lambda url, contents: ParquetSink(url.path, url.partitions),
    options=OPTIONS,
    parts=lambda folder, partitions, part, contents: ParquetSink(folder, partitions, part=part),
)
