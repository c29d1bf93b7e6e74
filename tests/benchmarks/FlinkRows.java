import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** What `volume.py` compares with: rows with the columns of `crud`, made by Flink's datagen, written as its canal-json.
    Arguments: rows, folder, how many run at once. */
public final class FlinkRows {
    private static final String COLUMNS =
        "user_id BIGINT, name STRING, email STRING, city STRING, age INT, balance DECIMAL(10, 2), status STRING,"
            + " score INT, created_at TIMESTAMP(3), updated_at TIMESTAMP(3)";

    public static void main(String[] arguments) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("parallelism.default", arguments[2]);
        TableEnvironment flink =
            TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().withConfiguration(settings).build());
        flink.executeSql(
            "CREATE TABLE made (" + COLUMNS + ") WITH ('connector' = 'datagen', 'number-of-rows' = '" + arguments[0]
                + "', 'rows-per-second' = '1000000000'," // 10,000 by itself
                + " 'fields.user_id.kind' = 'sequence', 'fields.user_id.start' = '1', 'fields.user_id.end' = '" + arguments[0]
                + "', 'fields.name.length' = '14', 'fields.email.length' = '24', 'fields.city.length' = '12',"
                + " 'fields.city.null-rate' = '0.02', 'fields.age.min' = '18', 'fields.age.max' = '99',"
                + " 'fields.status.length' = '6', 'fields.score.min' = '0', 'fields.score.max' = '1000')");
        flink.executeSql(
            "CREATE TABLE written (" + COLUMNS + ") WITH ('connector' = 'filesystem', 'path' = 'file://" + arguments[1]
                + "', 'format' = 'canal-json')");
        flink.executeSql("INSERT INTO written SELECT * FROM made").await();
    }
}
