import java.util.LinkedHashMap;
import java.util.Map;

/** A consumer of Canal JSON that keeps one table in memory: what a team would have. Its bug is planted by the test. */
final class Consumer {
    final Map<Object, Map<String, Object>> rows = new LinkedHashMap<>();
    private final String table;
    private final boolean firstRowOnly;

    Consumer(String table, boolean firstRowOnly) {
        this.table = table;
        this.firstRowOnly = firstRowOnly;
    }

    void take(CdcsimPack.Message message) {
        Map<String, Object> value = CdcsimPack.object(CdcsimPack.json(message.text()));
        if (Boolean.TRUE.equals(value.get("isDdl")) || !table.equals(value.get("database") + "." + value.get("table"))) {
            return;
        }
        for (Object each : CdcsimPack.list(value.get("data"))) {
            Map<String, Object> row = CdcsimPack.object(each);
            Object key = CdcsimPack.list(value.get("pkNames")).stream().map(row::get).toList();
            if (value.get("type").equals("DELETE")) {
                rows.remove(key);
            } else {
                rows.put(key, row);
            }
            if (firstRowOnly) {
                return;
            }
        }
    }
}
