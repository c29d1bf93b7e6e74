import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.util.Collector;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.flink.action.cdc.TypeMapping;
import org.apache.paimon.flink.action.cdc.format.canal.CanalRecordParser;
import org.apache.paimon.flink.action.cdc.serialization.CdcJsonDeserializationSchema;
import org.apache.paimon.flink.sink.cdc.CdcRecord;
import org.apache.paimon.flink.sink.cdc.RichCdcMultiplexRecord;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.utils.TypeUtils;

/**
 * The parser of Paimon's CDC actions (`kafka_sync_database` with canal-json), asked message by message.
 *
 * Each line is a message. It is answered by the records that the sink would get: {"kind":"+I","row":{"id":"1"}}, or by
 * {"error":"…"} for a failed job.
 */
public class PaimonCanal {
    static final ObjectMapper JSON = new ObjectMapper();
    static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS");

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        CdcJsonDeserializationSchema values = new CdcJsonDeserializationSchema();
        CanalRecordParser parser = new CanalRecordParser(TypeMapping.defaultMapping(), List.of());
        Collector<RichCdcMultiplexRecord> told = new Collector<>() {
            @Override
            public void collect(RichCdcMultiplexRecord record) {
                CdcRecord change = record.toRichCdcRecord().toCdcRecord();
                ObjectNode answer = JSON.createObjectNode().put("kind", change.kind().shortString());
                ObjectNode row = answer.putObject("row");
                for (DataField field : record.buildSchema().fields()) {
                    if (change.data().containsKey(field.name())) {
                        String value = change.data().get(field.name());
                        row.put(field.name(), value == null ? null : text(value, field.type()));
                    }
                }
                out.println(answer.put("table", record.tableName()));
            }

            @Override
            public void close() {}
        };
        for (String line; (line = in.readLine()) != null; ) {
            try {
                parser.flatMap(values.deserialize(line.getBytes(StandardCharsets.UTF_8)), told);
            } catch (Throwable error) {
                Throwable cause = error;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                out.println(JSON.createObjectNode().put("error", String.valueOf(cause)));
            }
            out.println(".");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    /** A value of Paimon's table: bytes in hexadecimal digits. */
    static String text(String given, DataType type) {
        Object value = TypeUtils.castFromCdcValueString(given, type);
        return switch (type.getTypeRoot()) {
            case BINARY, VARBINARY -> "0x" + HexFormat.of().formatHex((byte[]) value);
            case DATE -> LocalDate.ofEpochDay((int) value).toString();
            case TIME_WITHOUT_TIME_ZONE -> LocalTime.ofNanoOfDay((int) value * 1_000_000L).toString();
            case TIMESTAMP_WITHOUT_TIME_ZONE -> SECONDS.format(((Timestamp) value).toLocalDateTime());
            default -> String.valueOf(value);
        };
    }
}
