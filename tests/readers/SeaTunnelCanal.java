import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.seatunnel.api.serialization.DeserializationSchema;
import org.apache.seatunnel.api.source.Collector;
import org.apache.seatunnel.api.table.catalog.CatalogTable;
import org.apache.seatunnel.api.table.catalog.CatalogTableUtil;
import org.apache.seatunnel.api.table.type.BasicType;
import org.apache.seatunnel.api.table.type.DecimalType;
import org.apache.seatunnel.api.table.type.LocalTimeType;
import org.apache.seatunnel.api.table.type.PrimitiveByteArrayType;
import org.apache.seatunnel.api.table.type.SeaTunnelDataType;
import org.apache.seatunnel.api.table.type.SeaTunnelRow;
import org.apache.seatunnel.api.table.type.SeaTunnelRowType;
import org.apache.seatunnel.format.json.canal.CanalJsonDeserializationSchema;
import org.apache.seatunnel.shade.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.seatunnel.shade.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * SeaTunnel's canal_json reader in its strict form, asked message by message, without a cluster.
 *
 * A line `ROW` with name and type of each column, tabs between (`ROW\tid\tBIGINT\tamount\tDECIMAL(12, 2)`), declares the
 * table that the messages after it are read into. Every other line is a message. It is answered by its rows:
 * {"kind":"+I","row":{"id":"1"}}, or by {"error":"…"} for a failed job.
 */
public class SeaTunnelCanal {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        SeaTunnelRowType[] type = {null};
        CanalJsonDeserializationSchema schema = null;
        Collector<SeaTunnelRow> told = new Collector<>() {
            @Override
            public void collect(SeaTunnelRow data) {
                ObjectNode answer = JSON.createObjectNode().put("kind", data.getRowKind().shortString());
                ObjectNode row = answer.putObject("row");
                for (int i = 0; i < data.getArity(); i++) {
                    Object value = data.getField(i);
                    row.put(type[0].getFieldName(i), value == null ? null
                        : value instanceof byte[] bytes ? "0x" + HexFormat.of().formatHex(bytes) : String.valueOf(value));
                }
                out.println(answer);
            }

            @Override
            public Object getCheckpointLock() {
                return this;
            }
        };
        for (String line; (line = in.readLine()) != null; ) {
            try {
                if (line.startsWith("ROW\t")) {
                    type[0] = declared(line.split("\t"));
                    CatalogTable table = CatalogTableUtil.getCatalogTable("catalog", "database", "schema", "table", type[0]);
                    schema = CanalJsonDeserializationSchema.builder(table).setIgnoreParseErrors(false).build();
                } else {
                    schema.deserialize(line.getBytes(StandardCharsets.UTF_8), told);
                }
            } catch (Throwable error) {
                Throwable cause = error;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                out.println(JSON.createObjectNode().put("error", String.valueOf(cause).lines().findFirst().orElse("")));
            }
            out.println(".");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    static SeaTunnelRowType declared(String[] words) {
        List<String> names = new ArrayList<>();
        List<SeaTunnelDataType<?>> types = new ArrayList<>();
        for (int i = 1; i < words.length; i += 2) {
            names.add(words[i]);
            String[] parts = words[i + 1].split("[(), ]+");
            types.add(switch (parts[0]) {
                case "TINYINT" -> BasicType.BYTE_TYPE;
                case "INT" -> BasicType.INT_TYPE;
                case "BIGINT" -> BasicType.LONG_TYPE;
                case "DOUBLE" -> BasicType.DOUBLE_TYPE;
                case "DECIMAL" -> new DecimalType(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
                case "BYTES" -> PrimitiveByteArrayType.INSTANCE;
                case "DATE" -> LocalTimeType.LOCAL_DATE_TYPE;
                case "TIMESTAMP" -> LocalTimeType.LOCAL_DATE_TIME_TYPE;
                default -> BasicType.STRING_TYPE;
            });
        }
        return new SeaTunnelRowType(names.toArray(String[]::new), types.toArray(SeaTunnelDataType<?>[]::new));
    }
}
