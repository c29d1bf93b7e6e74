import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A catalog of Spark with tables that MERGE can change, as AutoCDC wants them: rows in the driver's memory, seen by all
 * sessions. MERGE copies on write, with the table as its one group: it reads all rows and gives all rows back. Spark
 * decides what becomes of each.
 */
public final class MergeCatalog implements TableCatalog {
  private static final Map<Identifier, MergeTable> TABLES = new ConcurrentHashMap<>();
  private String name;

  @Override
  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Identifier[] listTables(String[] namespace) {
    return TABLES.keySet().stream().filter(id -> Arrays.equals(id.namespace(), namespace)).toArray(Identifier[]::new);
  }

  @Override
  public Table loadTable(Identifier id) throws NoSuchTableException {
    MergeTable table = TABLES.get(id);
    if (table == null) {
      throw new NoSuchTableException(id);
    }
    return table;
  }

  @Override
  public Table createTable(Identifier id, TableInfo info) {
    MergeTable table = new MergeTable(id.toString(), info.columns(), info.properties());
    TABLES.put(id, table);
    return table;
  }

  /** Sets properties, which a pipeline does that runs again. */
  @Override
  public Table alterTable(Identifier id, TableChange... changes) throws NoSuchTableException {
    MergeTable table = (MergeTable) loadTable(id);
    for (TableChange change : changes) {
      if (!(change instanceof TableChange.SetProperty property)) {
        throw new UnsupportedOperationException("tables keep their columns: " + change);
      }
      table.properties.put(property.property(), property.value());
    }
    return table;
  }

  @Override
  public boolean dropTable(Identifier id) {
    return TABLES.remove(id) != null;
  }

  @Override
  public void renameTable(Identifier from, Identifier to) {
    throw new UnsupportedOperationException("tables keep their names");
  }

  private static final class MergeTable implements SupportsRead, SupportsRowLevelOperations {
    private final String name;
    private final Column[] columns;
    private final Map<String, String> properties;
    private volatile List<UnsafeRow> rows = List.of();

    MergeTable(String name, Column[] columns, Map<String, String> properties) {
      this.name = name;
      this.columns = columns;
      this.properties = new HashMap<>(properties);
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Column[] columns() {
      return columns;
    }

    @Override
    public Map<String, String> properties() {
      return properties;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      Rows read = new Rows(new ArrayList<>(rows));
      StructType schema = CatalogV2Util.v2ColumnsToStructType(columns);
      return () -> new WholeScan(schema, read);
    }

    @Override
    public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
      return () -> new Replacement(this, info.command());
    }
  }

  private record Replacement(MergeTable table, RowLevelOperation.Command command) implements RowLevelOperation {
    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return table.newScanBuilder(options);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
      return new WriteBuilder() {
        @Override
        public Write build() {
          return new Write() {
            @Override
            public BatchWrite toBatch() {
              return new WholeWrite(table, info.schema());
            }
          };
        }
      };
    }
  }

  /** Rows on their way between the driver and a task. */
  private record Rows(ArrayList<UnsafeRow> rows) implements InputPartition, WriterCommitMessage {}

  private record WholeScan(StructType readSchema, Rows rows) implements Scan, Batch {
    @Override
    public Batch toBatch() {
      return this;
    }

    @Override
    public InputPartition[] planInputPartitions() {
      return new InputPartition[] {rows};
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new Reading();
    }
  }

  private static final class Reading implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      Iterator<UnsafeRow> rows = ((Rows) partition).rows().iterator();
      return new PartitionReader<>() {
        private InternalRow row;

        @Override
        public boolean next() {
          row = rows.hasNext() ? rows.next() : null;
          return row != null;
        }

        @Override
        public InternalRow get() {
          return row;
        }

        @Override
        public void close() {}
      };
    }
  }

  private record WholeWrite(MergeTable table, StructType schema) implements BatchWrite {
    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
      return new Writing(schema);
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
      List<UnsafeRow> rows = new ArrayList<>();
      for (WriterCommitMessage message : messages) {
        rows.addAll(((Rows) message).rows());
      }
      table.rows = rows;
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {}
  }

  private record Writing(StructType schema) implements DataWriterFactory, Serializable {
    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
      UnsafeProjection projection = UnsafeProjection.create(schema);
      ArrayList<UnsafeRow> rows = new ArrayList<>();
      return new DataWriter<>() {
        @Override
        public void write(InternalRow row) {
          rows.add(projection.apply(row).copy());
        }

        @Override
        public WriterCommitMessage commit() {
          return new Rows(rows);
        }

        @Override
        public void abort() {}

        @Override
        public void close() {}
      };
    }
  }
}
